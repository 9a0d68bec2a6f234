"""How threads join what they have computed."""
