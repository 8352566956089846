/** Each provider’s documented responses, and the claims derived from them. */
import type { Case } from './documented/ann.ts'
import { openid } from './documented/openid.ts'
import { social } from './documented/social.ts'
import { work } from './documented/work.ts'

export const cases: Record<string, Case> = { ...openid, ...social, ...work }
