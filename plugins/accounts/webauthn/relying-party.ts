/** For which site key pairs are made, and from where they may be used. */
import type { Config } from '../../config/config.ts'

export interface RelyingParty {
  /** A domain (WebAuthn Level 3 §4, RP ID). */
  id: string
  name: string
  /** As clients write them. */
  origins: string[]
}

/** Undefined where AUTH_WEBAUTHN_RP_ID, _RP_DISPLAY_NAME or _RP_ORIGINS is not set. */
export function relyingPartyOf(config: Config): RelyingParty | undefined {
  const {
    AUTH_WEBAUTHN_RP_ID: id,
    AUTH_WEBAUTHN_RP_DISPLAY_NAME: name,
    AUTH_WEBAUTHN_RP_ORIGINS: origins,
  } = config
  if (!id || !name || origins.length === 0) return undefined
  return { id: id.toLowerCase(), name, origins: origins.map(toOrigin) }
}

/** Browsers write scheme and host in lower case; what apps send instead of an origin is compared as it is. */
function toOrigin(origin: string): string {
  return /^https?:/i.test(origin) ? new URL(origin).origin : origin
}
