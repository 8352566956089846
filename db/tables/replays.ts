/** Messages and assertions that were accepted, until they expire. */
export interface ReplaysTable {
  key: string
  expires_at: Date
}
