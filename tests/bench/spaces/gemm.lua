-- The search space of the GEMM kernel of the FAIR benchmark hub (T1).
local at = require "autotune"

return at.pattern {
  name = "gemm",
  summary = "Search space of a matrix product",
  problem = { n = 1024 },

  space = {
    GEMMK = { 0 },
    MWG = at.pow2(16, 128),
    NWG = at.pow2(16, 128),
    KWG = { 16, 32 },
    MDIMC = { 8, 16, 32 },
    NDIMC = { 8, 16, 32 },
    MDIMA = { 8, 16, 32 },
    NDIMB = { 8, 16, 32 },
    KWI = { 2 },
    VWM = at.pow2(1, 8),
    VWN = at.pow2(1, 8),
    STRM = { 0, 1 },
    STRN = { 0, 1 },
    SA = { 0, 1 },
    SB = { 0, 1 },
    KREG = { 1 },
    PRECISION = { 32 },
  },
  where = {
    "KWG % KWI == 0",
    "MWG % (MDIMC * VWM) == 0",
    "NWG % (NDIMC * VWN) == 0",
    "MWG % (MDIMA * VWM) == 0",
    "NWG % (NDIMB * VWN) == 0",
    "KWG % ((MDIMC * NDIMC) / MDIMA) == 0",
    "KWG % ((MDIMC * NDIMC) / NDIMB) == 0",
    "not (MWG == 128 and NWG == 128 and MDIMC == 8 and NDIMC == 8)",
  },
  baseline = {
    MWG = 64, NWG = 64, KWG = 16, MDIMC = 8, NDIMC = 8, MDIMA = 8, NDIMB = 8,
    VWM = 1, VWN = 1, STRM = 0, STRN = 0, SA = 0, SB = 0,
  },

  buffers = { out = at.output { dtype = "float", count = "n" } },
  kernel = { template = "spaces_only.cu.tmpl", entry = "nothing", args = { "out" } },
  launch = { grid = "1", block = "32" },
  traffic = "4",
}
