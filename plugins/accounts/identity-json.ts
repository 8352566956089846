import type { IdentityJson, IdentityRow } from '../../db/identities.ts'

/** A row just written, in the form in which the person's record holds its identities. */
export function toIdentityJson(row: IdentityRow): IdentityJson {
  return {
    ...row,
    last_sign_in_at: row.last_sign_in_at?.toISOString() ?? null,
    created_at: row.created_at?.toISOString() ?? null,
    updated_at: row.updated_at?.toISOString() ?? null,
  }
}
