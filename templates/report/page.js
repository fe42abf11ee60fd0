document.querySelectorAll('table.sort th').forEach(function(h,c){
 var b=h.querySelector('button');if(!b)return;
 b.addEventListener('click',function(){
  var t=h.closest('table'),k=Array.prototype.indexOf.call(h.parentNode.children,h);
  var r=Array.prototype.slice.call(t.tBodies[0].rows),d=h.dataset.d==='1'?-1:1;h.dataset.d=d;
  var v=function(x){return x.cells[k].textContent.trim()};
  var n=r.every(function(x){return v(x)===''||!isNaN(parseFloat(v(x)))});
  r.sort(function(x,y){return d*(n?(parseFloat(v(x))||0)-(parseFloat(v(y))||0):v(x).localeCompare(v(y)))});
  r.forEach(function(x){t.tBodies[0].appendChild(x)})})});
