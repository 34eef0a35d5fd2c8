"""Stores in Google Cloud Firestore."""
