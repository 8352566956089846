/** A cache of tokens whose signature was verified. */
import { LRUCache } from 'lru-cache'

import type { AccessTokenClaims } from '../../../schemas/access-token.ts'

/** Longer tokens are rare and are verified each time, so that memory is bounded. */
const maxTokenLength = 4096

/** Entries depend on the keys: call `clear` when keys change. */
export function createVerifiedTokens(maxTokens: number) {
  return new LRUCache<string, AccessTokenClaims>({
    max: maxTokens,
    maxEntrySize: maxTokenLength,
    sizeCalculation: (_claims, token) => token.length,
  })
}
