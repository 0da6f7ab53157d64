"""Parts of the program's wiring; `app.py` joins them."""
