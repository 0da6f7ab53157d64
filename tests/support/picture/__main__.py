"""Records the picture anew: PYTHONPATH=tests/support python -m picture docs/review.webp      (`make picture`)

Nothing in it is drawn by hand: VS Code's frames are screenshots, Neovim's are its screen as the protocol draws it. The
words under them are ours.
"""

import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from picture import neovim, story, vscode
from picture.story import Frame

BAR = 44
LARGEST = 1_500_000  # bytes


def framed(picture: Image.Image, editor: str, said: str) -> Image.Image:
    """The picture with a line under it: which editor, and what happens."""
    whole = Image.new("RGB", (story.WIDTH, story.HEIGHT + BAR), (13, 17, 23))
    if picture.width > story.WIDTH or picture.height > story.HEIGHT:
        raise SystemExit(f"picture: a frame of {editor} is {picture.size}, more than fits")
    whole.paste(picture, ((story.WIDTH - picture.width) // 2, (story.HEIGHT - picture.height) // 2))
    draw = ImageDraw.Draw(whole)
    bold, plain = (ImageFont.truetype(name, 18) for name in ("DejaVuSans-Bold.ttf", "DejaVuSans.ttf"))
    top = story.HEIGHT + 11
    draw.text((16, top), editor, font=bold, fill=(126, 231, 135))
    draw.text((16 + bold.getlength(editor + "   "), top), said, font=plain, fill=(230, 237, 243))
    return whole


def assembled(parts: dict[str, list[Frame]], folder: Path, target: Path) -> None:
    frames = [(editor, each) for editor, taken in parts.items() for each in taken]
    pictures = [framed(Image.open(folder / each.file).convert("RGB"), editor, each.said) for editor, each in frames]
    times = [round(each.seconds * 1000) for _, each in frames]
    first, *rest = pictures
    first.save(target, save_all=True, append_images=rest, duration=times, loop=0, lossless=True, quality=100, method=6)
    size = target.stat().st_size
    if size > LARGEST:
        raise SystemExit(f"picture: {target} has {size} bytes, more than {LARGEST}")
    sys.stdout.write(f"{target}: {len(pictures)} frames, {size // 1024} kB, {sum(times) / 1000:g} s\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="assent-picture-") as scratch:
        place = Path(scratch)
        taken = {"VS Code": vscode.record(place), "Neovim": neovim.record(place)}
        assembled(taken, place, Path(sys.argv[1]))
