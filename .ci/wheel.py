"""Makes a wheel of what .ci/package staged: STAGE is its directory, TAG the wheel's tag (py3-none-manylinux_2_17_x86_64)."""

import os
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Staged(BuildHookInterface):
    def initialize(self, version, build_data):
        stage = Path(os.environ["STAGE"])
        files = {path: str(path.relative_to(stage)) for path in sorted(stage.rglob("*")) if path.is_file()}
        build_data["tag"] = os.environ["TAG"]
        build_data["pure_python"] = False
        build_data["shared_scripts"] = {str(stage / "bin/truebench"): "truebench"}
        # Below the environment's prefix: there truebench finds its library. One by one: hatchling leaves out much of a directory.
        build_data["shared_data"] = {str(path): name for path, name in files.items() if not name.startswith("bin/")}
