"""Text from anywhere: folding, words, front matter, XML, and bounds on what reading it may cost."""
