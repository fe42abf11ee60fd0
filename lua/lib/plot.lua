-- Writes programs for gnuplot. The colours are Okabe & Ito's (2008), which colour-blind people can tell apart. Each
-- colour has its own dash and point for print. Yellow comes last, because it is faint on white.

local plot = {
  -- A curve below another curve is visible through the gaps of the dashes.
  dashes = { "solid", "(16,10)", "(8,12)", "(20,8,6,8)", "(4,14)" },
  colours = { "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#56b4e9", "#e69f00", "#b0a000" },
}

-- Returns a text in double quotes, without characters that gnuplot or its terminals interpret.
function plot.quoted(text)
  return '"' .. string.gsub(text, "[\"\\`{}^@&~\n$]", "") .. '"'
end

function plot.g(v) return string.format("%g", v) end

-- Returns the beginning of a program. `d` is the data, `columns` the terminal's width.
function plot.head(d, columns)
  local terminals = {
    svg = "set terminal svg size 640,400 dynamic font 'sans-serif,14' background '#ffffff'\n",
    png = "set terminal pngcairo size 1350,720 font 'sans,15'\n",
    terminal = string.format("set terminal dumb noenhanced %d,%d\n", columns - 1, math.max(columns * 3 // 10, 18)),
  }
  local grid = "set termoption noenhanced\nset grid lt 1 lc rgb '#dddddd'\n"
  return terminals[d.format] .. (d.format ~= "terminal" and grid or "") .. "set title " .. plot.quoted(d.title) .. "\n"
end

-- Returns the label of the y axis. A terminal shows the unit if there is room beside the numbers.
function plot.ylabel(d, name)
  return (d.format == "terminal" and "set lmargin 20\n" or "") .. "set ylabel '" .. name .. "'\n"
end

-- plot.unit(d) is the unit of plot.figure(d, i), the figure of result `i`: a rate if all results have one, else a time.
function plot.unit(d)
  if d.rate_unit then return d.rate_unit end
  return d.objective ~= "time" and d.objective or d.format == "terminal" and "us" or "time (us)"
end

function plot.figure(d, i)
  return d.rate_unit and d.rates[i] or d.costs[i] * 1e3
end

-- Returns gnuplot's command that draws the ceiling and the baseline, and then the curves over them.
function plot.command(d, curves)
  local parts = {}
  if d.ceiling then
    parts[1] = string.format("%g with lines lc rgb '#555555' lw 2 title '%s'", d.ceiling.rate, d.ceiling.words)
  end
  if d.baseline_rate > 0 then
    parts[#parts + 1] = string.format("%g with lines lc rgb '#555555' dt 2 lw 2 title 'baseline'", d.baseline_rate)
  end
  for _, curve in ipairs(curves) do parts[#parts + 1] = curve end
  return "plot " .. table.concat(parts, ", \\\n ") .. "\n"
end

return plot
