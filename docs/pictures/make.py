#!/usr/bin/env python3
"""Makes the pictures of the documentation from real runs.

    cargo build && docs/pictures/make.py [PICTURE…]

Needs Chromium for pictures of pages, and LibreOffice for those of workbooks. A test holds that every picture is named here and shown on a page.
"""

import base64
import html
import json
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"
SAMPLES = ROOT / "samples"
SHEETPORT = Path(os.environ.get("SHEETPORT", ROOT / "target" / "debug" / "sheetport"))

# Of a terminal picture, in pixels.
CELL = (8.0, 18)
MARGIN = 16
COLUMNS = 108

# Of a picture of a page, in pixels.
PAGE = (1040, 680)

# Of a picture of a workbook, and the lines between its cells, which are not in LibreOffice's page.
WORKBOOK = (1340, 606)
SHEET_STYLE = (
    "body { margin: 0 } table { border-collapse: collapse } "
    "td { border: 1px solid #d5d9e0; font: 12px Carlito, Calibri, Arial, sans-serif; padding: 2px 5px } "
    "td font { font: inherit }"
)

# Text and background, and the eight colours of a terminal, readable on it.
TEXT, BACKGROUND, DIM = "#dfe3ea", "#1c2128", "#9aa4b2"
COLOURS = ["#6b7585", "#ff8f85", "#7ee0a0", "#f2cc60", "#8cbcff", "#d9a6ff", "#6fd8e0", "#ffffff"]


def main():
    wanted = set(sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(Path(folder))
        try:
            for name, make in PLAN.items():
                if not wanted or name in wanted:
                    make(scene, PICTURES / name)
                    print(f"{name}: {(PICTURES / name).stat().st_size:,} bytes")
        finally:
            scene.service.terminate()
            scene.service.wait()


class Scene:
    """A folder with a ledger, and a service with the demo workspace."""

    def __init__(self, folder):
        self.base = folder
        self.folder = folder / "tools"
        self.folder.mkdir()
        clean = {name: value for name, value in os.environ.items() if not name.startswith("SHEETPORT_")}
        self.env = clean | {"SHEETPORT_HOME": str(folder / "home"), "TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
        self.env.pop("NO_COLOR", None)
        data = str(folder / "service")
        serve = [SHEETPORT, "serve", "--demo", "--listen", "127.0.0.1:0", "--data", data, "--json"]
        self.service = subprocess.Popen(serve, env=self.env, stdout=subprocess.PIPE, text=True)
        self.env["SHEETPORT_BASE_URL"] = json.loads(self.service.stdout.readline())["listening"]
        tokens = json.loads(self.run("serve token --workspace demo --json --data " + data).stdout)
        self.env["SHEETPORT_ACCESS_TOKEN"] = tokens["access"]
        self.env["SHEETPORT_REFRESH_TOKEN"] = tokens["refresh"]

    def run(self, command):
        """Runs a command; an exit code of 3 says that rows need fixing."""
        done = subprocess.run(
            [SHEETPORT, *command.split()], cwd=self.folder, env=self.env, capture_output=True, text=True
        )
        assert done.returncode in (0, 3), f"{command}: {done.stderr}"
        return done

    def price_list(self):
        """Returns the template of the first task, corrected as its page says."""
        shutil.copy(SAMPLES / "tool-prices.csv", self.folder)
        template = self.folder / "tool-prices.toml"
        if not template.exists():
            self.run("template infer tool-prices.csv --record item -o tool-prices.toml")
            text = template.read_text().replace('column = "Barcode"', 'column = "Ordering code"')
            template.write_text(re.sub(r"guess = true.*\n", "", text).split("# Rows of the sheet and what")[0])

    def terminal(self, command):
        """Returns what a command shows on a terminal, with its colours."""
        ours, its = pty.openpty()
        termios.tcsetwinsize(its, (50, COLUMNS))
        process = subprocess.Popen(
            [SHEETPORT, *shlex.split(command), "--no-progress"], cwd=self.folder, env=self.env, stdin=its, stdout=its, stderr=its
        )
        os.close(its)
        shown = bytearray()
        try:
            while chunk := os.read(ours, 65536):
                shown.extend(chunk)
        except OSError:
            # Linux reports the end like this.
            pass
        assert process.wait() in (0, 3), shown
        return shown.decode().replace("\r\n", "\n").replace(str(self.folder) + "/", "")


def terminal_picture(scene, path, command, title, lines=None):
    """Draws a command and what it shows; `lines` is the range of lines to draw."""
    shown = scene.terminal(command).rstrip("\n").split("\n")
    cut = shown[lines] if lines else shown
    rows = [[("$ ", DIM, False), (f"sheetport {command}", TEXT, True)]] + [spans(line) for line in cut]
    path.write_text(svg(rows, title))


def spans(line):
    """Splits a line into texts with their colour and weight."""
    colour, bold, found = TEXT, False, []
    for part in re.split(r"(\x1b\[[0-9;]*[A-Za-z])", line):
        if not part.startswith("\x1b"):
            if part:
                found.append((part, colour, bold))
            continue
        for code in (int(code or 0) for code in part[2:-1].split(";")) if part.endswith("m") else []:
            if code == 0:
                colour, bold = TEXT, False
            elif code == 1:
                bold = True
            elif code == 2:
                colour = DIM
            elif 30 <= code <= 37 or 90 <= code <= 97:
                colour = COLOURS[code % 10]
    return found


def svg(rows, title):
    width, height = MARGIN * 2 + CELL[0] * COLUMNS, MARGIN * 2 + CELL[1] * len(rows)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" viewBox="0 0 {width:.0f} {height}">',
        f"<title>{html.escape(title)}</title>",
        f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>',
        "<g font-family=\"ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace\" font-size=\"13\">",
    ]
    for number, row in enumerate(rows):
        column, y = 0, MARGIN + CELL[1] * number + 13
        for text, colour, bold in row:
            # Several spaces would become one.
            for part in re.finditer(r"\S+(?: \S+)*", text):
                x = MARGIN + CELL[0] * (column + part.start())
                weight = ' font-weight="bold"' if bold else ""
                length = CELL[0] * len(part[0])
                out.append(
                    f'<text x="{x:g}" y="{y}" fill="{colour}"{weight} textLength="{length:g}" '
                    f'lengthAdjust="spacingAndGlyphs">{html.escape(part[0], quote=False)}</text>'
                )
            column += len(text)
    return "\n".join([*out, "</g>", "</svg>", ""])


class Page:
    """A page in headless Chromium, driven over a pipe."""

    def __init__(self, url, size):
        program = next(filter(shutil.which, ["chromium", "chromium-browser", "google-chrome"]))
        self.profile = tempfile.TemporaryDirectory()
        commands, answers = os.pipe(), os.pipe()
        arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-color-profile=srgb"]
        words = [program, *arguments, "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}", "about:blank"]
        # It reads commands from the descriptor 3 and answers on 4.
        shell = f'exec "$@" 3<&{commands[0]} 4>&{answers[1]}'
        self.process = subprocess.Popen(
            ["bash", "-c", shell, "bash", *words],
            pass_fds=[commands[0], answers[1]],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.commands, self.answers = os.fdopen(commands[1], "wb"), os.fdopen(answers[0], "rb")
        self.session, self.last, self.rest = None, 0, b""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        width, height = size
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setLocaleOverride", locale="en-GB")
        self.call("Page.enable")
        self.call("Page.navigate", url=url)

    def call(self, method, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.commands.write(json.dumps(message).encode() + b"\0")
        self.commands.flush()
        while True:
            while b"\0" not in self.rest:
                self.rest += os.read(self.answers.fileno(), 1 << 20)
            answer, self.rest = self.rest.split(b"\0", 1)
            answer = json.loads(answer)
            if answer.get("id") == self.last:
                assert "error" not in answer, answer
                return answer["result"]

    def value(self, script):
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def until(self, script):
        """Waits until the script returns something true."""
        end = time.monotonic() + 60
        while not self.value(script):
            assert time.monotonic() < end, f"not in time: {script}\n{self.value('document.body.innerText')}"
            time.sleep(0.05)

    def save(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
        self.process.terminate()
        self.process.wait()
        self.profile.cleanup()


def check(scene, path):
    scene.price_list()
    title = "sheetport check: the columns, what would be sent, and four rows that need fixing"
    terminal_picture(scene, path, "check tool-prices.csv -t tool-prices.toml", title)


def rehearse(scene, path):
    shutil.copy(SAMPLES / "orders.csv", scene.folder)
    title = "sheetport upload --rehearse: what was sent, what was made up, and how long the upload takes"
    terminal_picture(scene, path, "upload orders.csv -t orders --rehearse --rate 10/s", title)


def plan(scene, path):
    shutil.copy(SAMPLES / "stock-count.xlsx", scene.folder)
    title = "sheetport plan: the stocks that a count changes, old and new"
    terminal_picture(scene, path, "plan stock-count.xlsx -t stock-count", title)


def export(scene, path):
    title = "sheetport export: thirty orders, and how it is known that they are all"
    terminal_picture(scene, path, "export orders -o orders.xlsx", title)


def uploaded_price_list(scene):
    report = scene.folder / "price-list.report.xlsx"
    if not report.exists():
        for name in ["price-list.csv", "price-list.toml"]:
            shutil.copy(SAMPLES / name, scene.folder)
        scene.run("upload price-list.csv -t price-list.toml")
    return report


def report_page(scene, path):
    uploaded_price_list(scene)
    scene.run("report -o problems.html")
    page = Page((scene.folder / "problems.html").as_uri(), PAGE)
    page.until("document.readyState === 'complete' && document.querySelectorAll('tbody tr').length > 5")
    title = "[...document.querySelectorAll('h2')].find(title => title.innerText.includes('cause'))"
    page.value(f"window.scrollBy(0, {title}.getBoundingClientRect().top - 50)")
    page.save(path)


def columns(scene, path):
    shutil.copy(SAMPLES / "tool-prices.csv", scene.base)
    review_picture(scene, path, scene.base / "tool-prices.csv", show_columns)


def review(scene, path):
    uploaded_price_list(scene)
    review_picture(scene, path, "price-list.csv", show_problems)


def review_picture(scene, path, file, show):
    command = [SHEETPORT, "review", file, "--no-open"]
    process = subprocess.Popen(command, cwd=scene.folder, env=scene.env, stdout=subprocess.PIPE, text=True)
    try:
        page = Page(process.stdout.readline().strip(), PAGE)
        show(page)
        page.save(path)
    finally:
        process.terminate()
        process.wait()


def show_columns(page):
    # The rows are checked meanwhile.
    page.until("document.querySelector('[data-question]') !== null && document.querySelector('.grid .cell') !== null")


def show_problems(page):
    """Opens the step in which rows are corrected."""
    buttons = "[...document.querySelectorAll('button')]"
    for words in ["Problems", "Not a number"]:
        found = f"{buttons}.find(button => button.innerText.includes('{words}'))"
        page.until(f"{found} !== undefined")
        page.value(f"{found}.click()")
    page.until("document.body.innerText.includes('97,8O') && document.body.innerText.includes('Write into all')")


def report_workbook(scene, path):
    """Draws the sheet with the rows as LibreOffice reads it."""
    scene.price_list()
    scene.run("upload tool-prices.csv -t tool-prices.toml")
    profile = f"-env:UserInstallation={(scene.base / 'office').as_uri()}"
    convert = ["soffice", profile, "--headless", "--convert-to", "html", "--outdir", scene.base]
    report = scene.folder / "tool-prices.report.xlsx"
    subprocess.run([*convert, report], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    page = Page((scene.base / "tool-prices.report.html").as_uri(), WORKBOOK)
    page.until("document.readyState === 'complete' && document.querySelectorAll('table').length > 1")
    page.value("document.body.replaceChildren(document.querySelectorAll('table')[1])")
    page.value(f"document.head.insertAdjacentHTML('beforeend', '<style>{SHEET_STYLE}</style>')")
    page.save(path)


PLAN = {
    "check.svg": check,
    "columns.png": columns,
    "export.svg": export,
    "plan.svg": plan,
    "rehearse.svg": rehearse,
    "report-page.png": report_page,
    "report-workbook.png": report_workbook,
    "review.png": review,
}

if __name__ == "__main__":
    main()
