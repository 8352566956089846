/** Tables of the hosted pages. */

/** Sessions of the hosted pages: a cookie and its session. */
export interface PageSessionsTable {
  /** base64url of the SHA-256 of the cookie. */
  id: string
  session_id: string
  created_at: Date
  last_used_at: Date
  expires_at: Date
}

/** Submitted forms of the hosted pages. Two whose slots are equal share one row: the newer one replaces the other. */
export interface PageSubmissionsTable {
  slot: number
  /** base64url of the HMAC-SHA-256 of the form's path and fields. */
  id: string
  /** Encrypted; null while the first submission runs. */
  answer: string | null
  expires_at: Date
}
