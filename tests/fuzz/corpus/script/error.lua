

for k, v in pairs { a = 1 } do error(k .. v) end