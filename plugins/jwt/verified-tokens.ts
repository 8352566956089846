/** Tokens whose signature was checked lately, the least recently used one forgotten first. */
import type { AccessTokenClaims } from '../../schemas/access-token.ts'

/** Longer tokens are rare, and are checked again each time, so that the memory used is bounded. */
const maxTokenLength = 4096

/** What was put in is good only as long as the keys stay the same: `clear` when they change. */
export function createVerifiedTokens(maxTokens: number) {
  const tokens = new Map<string, AccessTokenClaims>()

  return {
    get(token: string): AccessTokenClaims | undefined {
      const claims = tokens.get(token)
      if (!claims) return undefined
      // A Map iterates in the order of insertion: what is used moves to the end.
      tokens.delete(token)
      tokens.set(token, claims)
      return claims
    },

    put(token: string, claims: AccessTokenClaims): void {
      if (token.length > maxTokenLength) return
      tokens.set(token, claims)
      if (tokens.size <= maxTokens) return
      for (const oldest of tokens.keys()) {
        tokens.delete(oldest)
        return
      }
    },

    delete: (token: string) => tokens.delete(token),
    clear: () => tokens.clear(),
  }
}
