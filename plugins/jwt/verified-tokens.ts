/** Tokens whose signature was checked lately. */
import { LRUCache } from 'lru-cache'

import type { AccessTokenClaims } from '../../schemas/access-token.ts'

/** Longer tokens are rare, and are checked again each time, so that the memory used is bounded. */
const maxTokenLength = 4096

/** What was put in is good only as long as the keys stay the same: `clear` when they change. */
export function createVerifiedTokens(maxTokens: number) {
  return new LRUCache<string, AccessTokenClaims>({
    max: maxTokens,
    maxEntrySize: maxTokenLength,
    sizeCalculation: (_claims, token) => token.length,
  })
}
