/** Maximum size of a request body in bytes. A longer one is rejected with 413 before it is read. */
export const bodyLimit = 131_072

/** The limit for admins, who write whole users. */
export const adminBodyLimit = 1_048_576

/** In JSON above the limit of other clients: 1 MB of short values takes three times as long as one of long texts. */
export const maxValuesOfAdmins = 20_000

/** More fields than any client sends; parsing tens of thousands would block the event loop. */
export const maxFormFields = 1_000
