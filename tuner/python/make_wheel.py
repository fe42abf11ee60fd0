#!/usr/bin/env python3
"""Makes a wheel of an installed tree: command, library, scripts and the Python module, for machines without a compiler.

usage: make_wheel.py PREFIX VERSION OUT

PREFIX is the tree that `cmake --install` wrote. The shared libraries that the programs need, beyond those of every Linux
system, are put into the wheel with their licences. Needs the programs patchelf and readelf, and Python's package wheel.
"""
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The libraries that every system has, according to manylinux (PEP 599 and later), and that autotune may need.
EVERYWHERE = re.compile(r"lib(c|m|dl|pthread|rt|util|gcc_s|stdc\+\+)\.so|ld-linux|linux-vdso")
# Files that are useless in a wheel: it has no MPI, and shells and man do not look into it.
LEFT_OUT = "autotune-rank", "bash-completion", "zsh", "fish", "man", "cmake", "pkgconfig", "include"

METADATA = """Metadata-Version: 2.1
Name: autotune-gpu
Version: {version}
Summary: A GPU autotuner for memory access patterns
License: MIT
Requires-Python: >=3.9
Provides-Extra: nvrtc
Requires-Dist: nvidia-cuda-nvrtc >=13.0; extra == "nvrtc"
Requires-Dist: nvidia-cuda-runtime >=13.0; extra == "nvrtc"
Requires-Dist: nvidia-cuda-cccl >=13.0; extra == "nvrtc"
Description-Content-Type: text/markdown

{text}"""


def run(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout


def libraries_of(binary):
    """Returns {name: path} of the shared libraries that a binary loads, except those that every system has."""
    found = re.findall(r"^\s*(\S+) => (/\S+)", run("ldd", binary), re.M)
    return {name: Path(path) for name, path in found if not EVERYWHERE.match(name)}


def newest_glibc(binaries):
    """Returns the newest glibc version (2, MINOR) whose symbols the binaries need."""
    versions = [int(v) for b in binaries for v in re.findall(r"GLIBC_2\.(\d+)", run("readelf", "--version-info", b))]
    return 2, max(versions)


def licence_of(library):
    """Returns the copyright file of a library from a Debian package, or None."""
    if not shutil.which("dpkg-query"):
        return None
    for path in library, library.resolve():
        owner = subprocess.run(["dpkg-query", "-S", str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        file = Path("/usr/share/doc") / owner.stdout.split(":")[0] / "copyright"
        if owner.stdout and file.exists():
            return file
    return None


def bundle(tree, info):
    """Copies the libraries that the tree's programs need into the tree. Returns all binaries."""
    libraries = tree / "lib"
    own = [p for p in tree.rglob("*") if p.is_file() and not p.is_symlink() and p.open("rb").read(4) == b"\x7fELF"]
    needed = {}
    for binary in own:
        needed.update(libraries_of(binary))
    for name, path in needed.items():
        if name.startswith("libautotune"):
            continue
        shutil.copy(path, libraries / name)
        own.append(libraries / name)
        licence = licence_of(path)
        if licence:
            (info / "licenses").mkdir(exist_ok=True)
            shutil.copy(licence, info / "licenses" / f"{name}.txt")
    for binary in own:
        way = os.path.relpath(libraries, binary.parent)
        run("patchelf", "--set-rpath", "$ORIGIN" if way == "." else f"$ORIGIN/{way}", binary)
    return own


def main(prefix, version, out):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        package, info = root / "autotune", root / f"autotune_gpu-{version}.dist-info"
        shutil.copytree(HERE / "autotune", package, ignore=shutil.ignore_patterns("__pycache__"))
        tree = package / "_tree"
        shutil.copytree(prefix, tree, symlinks=True, ignore=lambda _, names: [n for n in names if n in LEFT_OUT])
        # A wheel has no symbolic links, so the library stays under one name only.
        for library in [p for p in tree.rglob("libautotune.so*") if not p.is_symlink()]:
            bytes_ = library.read_bytes()
            for name in library.parent.glob("libautotune.so*"):
                name.unlink()
            (tree / "lib").mkdir(exist_ok=True)
            (tree / "lib" / "libautotune.so").write_bytes(bytes_)
        for archive in tree.rglob("*.a"):
            archive.unlink()
        for inner in list((tree / "lib").glob("*/autotune")):  # lib/x86_64-linux-gnu of Debian
            inner.rename(tree / "lib" / "autotune")
        info.mkdir()
        binaries = bundle(tree, info)
        machine = sysconfig.get_platform().split("-", 1)[1].replace("-", "_").replace(".", "_")
        tag = "py3-none-manylinux_%d_%d_%s" % (*newest_glibc(binaries), machine)
        text = (HERE / "README.md").read_text()
        (info / "METADATA").write_text(METADATA.format(version=version, text=text))
        (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: autotune\nRoot-Is-Purelib: false\nTag: {tag}\n")
        (info / "entry_points.txt").write_text("[console_scripts]\nautotune = autotune._command:main\n")
        (info / "top_level.txt").write_text("autotune\n")
        shutil.copy(HERE.parent.parent / "LICENSE", info / "LICENSE")
        Path(out).mkdir(parents=True, exist_ok=True)
        for old in Path(out).glob("autotune_gpu-*.whl"):
            old.unlink()
        run(sys.executable, "-m", "wheel", "pack", "--dest-dir", out, root)
    print(next(Path(out).glob(f"autotune_gpu-{version}-*.whl")))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
