-- Bilinear resize of images with three or four bytes a pixel. Parameters: pixels of a thread, and where rows are kept.
local at = require "autotune"

return at.pattern {
  name = "resize",
  problem = { images = 8, src = 3072, dst = 2048, channels = 4 },
  ragged = false,
  simulated = { images = 1, src = 192, dst = 128 },
  space = {
    block_x = { 8, 16, 32, 64, 128, 256 },
    block_y = { 1, 2, 4, 8, 16 },
    pixels = { 1, 2, 4 },             -- pixels of a thread, along a row
    order = { "near", "apart" },      -- whether these are neighbours, or a block's width apart
    load = { "bytes", "words" },      -- loads of a source pixel
    rows = { 1, 2, 4 },               -- rows of a thread
  },
  where = {
    "block_x * block_y >= 64 and block_x * block_y <= 512",
    "pixels > 1 or order == 'near'",
    "block_x * pixels <= dst",
  },
  baseline = { block_x = 32, block_y = 8, pixels = 1, order = "near", load = "bytes", rows = 1 },
  buffers = {
    a = at.input { dtype = "uint8", count = "images * src * src * channels" },
    b = at.output { dtype = "uint8", count = "images * dst * dst * channels", tolerance = at.absolute(1) },
  },
  kernel = { template = "resize.cu.tmpl", entry = "resize", args = { "a", "b" } },
  launch = { grid = { "ceil_div(dst, block_x * pixels)", "ceil_div(dst, block_y * rows)", "images" }, block = { "block_x", "block_y" } },
  traffic = "images * channels * (src * src + dst * dst)",
  reference = at.reference { template = "resize_ref.cu.tmpl", args = { "a", "b" } },
}
