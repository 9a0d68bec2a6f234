"""Pictures as SVG text: one file a picture, each with a function of its name."""
