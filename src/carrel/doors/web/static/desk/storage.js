// Texts that this browser keeps. Storage may be switched off or full: then nothing is kept.

// The storage is named in a function, since a browser may refuse its very name.
function makeStorage(open) {
  return {
    /** False where the text could not be kept. */
    keep(key, text) {
      try {
        open().setItem(key, text);
        return true;
      } catch {
        return false;
      }
    },
    read(key) {
      try {
        return open().getItem(key);
      } catch {
        return null;
      }
    },
    drop(key) {
      try {
        open().removeItem(key);
      } catch {
        // There is nothing to forget.
      }
    },
    /** The keys that begin so. */
    list(beginning) {
      try {
        return Object.keys(open()).filter((key) => key.startsWith(beginning));
      } catch {
        return [];
      }
    },
  };
}

/** Kept for all tabs and for the next visit. */
export const browserStorage = makeStorage(() => localStorage);

/** Kept for this tab, until it is closed. */
export const tabStorage = makeStorage(() => sessionStorage);
