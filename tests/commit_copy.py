"""A copy of the last commit, for scripts that change sources and build them."""
import io
import subprocess
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def write(folder):
    """Writes the files of the last commit to the folder, and removes those of an earlier copy that are gone. Equal files
    keep their times, so that the next build skips them."""
    packed = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    names = set()
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in archive:
            path = folder / member.name
            if not member.isdir():
                names.add(member.name)
            if member.isdir():
                path.mkdir(parents=True, exist_ok=True)
            elif member.issym() and not path.is_symlink():
                path.symlink_to(member.linkname)
            elif member.isfile():
                text = archive.extractfile(member).read()
                if not path.exists() or path.read_bytes() != text:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(text)
                    path.chmod(member.mode)
    # A build lists the files of some folders, so files that only an earlier commit had are removed.
    listed = folder / "build" / "copied"
    for name in set(listed.read_text().splitlines() if listed.exists() else ()) - names:
        (folder / name).unlink(missing_ok=True)
    listed.parent.mkdir(exist_ok=True)
    listed.write_text("".join(f"{name}\n" for name in sorted(names)))
