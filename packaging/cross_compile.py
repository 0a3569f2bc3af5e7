"""Compile the native module for other systems, with the compiler of ziglang.

    python packaging/cross_compile.py [--target aarch64-linux] [--out build/cross] [--link]

All of it is compiled, with nanobind, and with ``--link`` made into the module that a wheel holds
(Zig then compiles its C++ library for the target first, which takes minutes, once). The
headers are those of the running Python, whose configuration is that of any 64-bit Linux and macOS;
for Windows ``packaging/cross/pyconfig.h`` takes its place. `CMakeLists.txt` has the flags.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import nanobind

ROOT = Path(__file__).resolve().parents[1]
NATIVE = ROOT / "src" / "sparseksc" / "_native"
NANOBIND = Path(nanobind.__file__).parent
CMAKE = (ROOT / "CMakeLists.txt").read_text("utf-8")


@dataclass(frozen=True)
class Target:
    """A system and a processor, as Zig calls them, and the ending of a module there."""

    triple: str
    ending: str = "so"

    @property
    def is_x86(self) -> bool:
        """Whether there are variants for AVX2 and AVX-512."""
        return self.triple.startswith("x86_64")

    @property
    def is_windows(self) -> bool:
        """Whether names of Python are found in a DLL when the module is linked."""
        return "windows" in self.triple


#: glibc 2.28 is that of manylinux_2_28.
TARGETS = {
    "aarch64-linux": Target("aarch64-linux-gnu.2.28"),
    "x86_64-musl": Target("x86_64-linux-musl"),
    "x86_64-windows": Target("x86_64-windows-gnu", "pyd"),
    "x86_64-macos": Target("x86_64-macos"),
    "arm64-macos": Target("aarch64-macos"),
}


def flags(name: str) -> list[str]:
    """Return the flags that CMakeLists.txt keeps in a variable."""
    return re.search(rf"set\({name} (-[^)]*)\)", CMAKE)[1].split()


def zig(*arguments: object) -> None:
    """Run Zig, and end with what it says if it fails."""
    command = [sys.executable, "-m", "ziglang", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")


def headers(target: Target, folder: Path) -> Path:
    """Return the folder of Python.h for a target."""
    installed = Path(sysconfig.get_path("include"))
    if not target.is_windows:
        return installed
    shutil.copytree(installed, folder, dirs_exist_ok=True)
    shutil.copy(ROOT / "packaging" / "cross" / "pyconfig.h", folder)
    return folder


def compile_objects(target: Target, folder: Path, include: Path | None = None) -> list[Path]:
    """Compile all files for a target, and return the objects."""
    folder.mkdir(parents=True, exist_ok=True)
    include = include or headers(target, folder / "include")
    common = ["c++", "-target", target.triple, "-std=c++17", "-fvisibility=hidden", "-DNDEBUG"]
    common += [] if target.is_windows else ["-fPIC"]
    binding = [*common, "-O2", "-fno-strict-aliasing", f"-I{include}"]
    binding += [f"-I{NANOBIND / 'include'}", f"-I{NANOBIND / 'ext/robin_map/include'}"]
    variants = {"baseline": []}
    if target.is_x86:
        variants |= {"avx2": flags("AVX2"), "avx512": flags("AVX512")}
    have = [f"-DSPARSEKSC_HAVE_{name}=1" for name in variants]
    # Zig instruments what it compiles for undefined behaviour, unless it is told not to.
    plain = ["-fno-sanitize=undefined", "-c"]
    jobs = {"nanobind": [*binding, *plain, NANOBIND / "src" / "nb_combined.cpp"]}
    for source in sorted(NATIVE.glob("*.cpp")):
        if source.stem != "variant":
            jobs[source.stem] = [*binding, *have, *plain, source]
    for name, options in variants.items():
        loops = [*common, *flags("LOOP_FLAGS"), *options, f"-DSPARSEKSC_VARIANT={name}"]
        jobs[name] = [*loops, *plain, NATIVE / "variant.cpp"]
    objects = [folder / f"{name}.o" for name in jobs]
    with ThreadPoolExecutor(2) as pool:
        done = pool.map(
            lambda job: zig(*job[0], "-o", job[1]), zip(jobs.values(), objects, strict=True)
        )
        list(done)
    return objects


def link_module(target: Target, objects: list[Path], folder: Path) -> Path:
    """Return the module that the objects are linked to."""
    module = folder / f"_core.{target.ending}"
    link = ["c++", "-target", target.triple, "-shared", "-s", "-o", module, *objects]
    if target.is_windows:
        link.append(import_library(objects, folder))
    elif "macos" in target.triple:
        link.append("-Wl,-undefined,dynamic_lookup")
    zig(*link)
    return module


def import_library(objects: list[Path], folder: Path) -> Path:
    """Return a library of the names of Python that the objects use, as found in its DLL."""
    names = set()
    for path in objects:
        names |= set(re.findall(rb"__imp_(_?Py\w+)", path.read_bytes()))
    lines = [name.decode() for name in sorted(names)]
    data = [f"{name} DATA" if re.search("_Type$|Struct$|Exc_", name) else name for name in lines]
    definition, library = folder / "python.def", folder / "python.lib"
    definition.write_text("\n".join(["LIBRARY python3.dll", "EXPORTS", *data, ""]))
    zig("dlltool", "-m", "i386:x86-64", "-D", "python3.dll", "-d", definition, "-l", library)
    return library


def main() -> None:
    """Compile for the targets that were asked for, and say what was made."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", choices=TARGETS, action="append")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "cross")
    parser.add_argument("--include", type=Path, help="the folder of another Python.h")
    parser.add_argument("--link", action="store_true", help="make a module of the objects")
    given = parser.parse_args()
    for name in given.target or TARGETS:
        target, folder = TARGETS[name], given.out / name
        made = compile_objects(target, folder, given.include)
        if given.link:
            made = [link_module(target, made, folder)]
        size = sum(path.stat().st_size for path in made) / 1e6
        print(f"{name:15} {len(made):2} files, {size:.2f} MB in {folder}", flush=True)


if __name__ == "__main__":
    main()
