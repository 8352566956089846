/** Failed proofs per account; the key is a keyed hash, known account or not. */
export interface ThrottlesTable {
  key: string
  failures: number
  blocked_until: Date | null
  updated_at: Date
}
