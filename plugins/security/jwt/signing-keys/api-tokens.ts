/** Service tokens by `jti`: the revoked ones known to this replica, and the keys in use by valid ones. */
import type { Db } from '../../../../db/core/database.ts'
import { type ApiTokenRow, listApiTokens } from '../../../../db/keys/signing-keys.ts'

const isRevoked = ({ revoked_at }: ApiTokenRow) => revoked_at !== null

export function createApiTokens(db: Db) {
  let revoked: ReadonlySet<string> = new Set()

  return {
    isRevoked: (jti: string | undefined): boolean => jti !== undefined && revoked.has(jti),

    /** Loads the revoked tokens; resolves to true when they changed. */
    async sync(now: Date): Promise<boolean> {
      const rows = (await listApiTokens(db, now)).filter(isRevoked)
      const before = revoked
      revoked = new Set(rows.map(({ jti }) => jti))
      return revoked.symmetricDifference(before).size > 0
    },

    /** Valid tokens, by the key they need. */
    async pins(now: Date): Promise<Map<string | null, ApiTokenRow[]>> {
      const tokens = await listApiTokens(db, now)
      return Map.groupBy(
        tokens.filter((token) => !isRevoked(token)),
        ({ kid }) => kid,
      )
    },
  }
}
