/** The relying party: the domain of credentials and the origins that may use them. */
import type { Config } from '../../../config/groups/index.ts'

export interface RelyingParty {
  /** A domain (WebAuthn Level 3 §4, RP ID). */
  id: string
  name: string
  /** As clients send them. */
  origins: string[]
}

/** Undefined unless AUTH_WEBAUTHN_RP_ID, _RP_DISPLAY_NAME and _RP_ORIGINS are set. */
export function getRelyingParty(config: Config): RelyingParty | undefined {
  const {
    AUTH_WEBAUTHN_RP_ID: id,
    AUTH_WEBAUTHN_RP_DISPLAY_NAME: name,
    AUTH_WEBAUTHN_RP_ORIGINS: origins,
  } = config
  if (!id || !name || origins.length === 0) return undefined
  return { id: id.toLowerCase(), name, origins: origins.map(toOrigin) }
}

/** Browsers send lower case; other values, as of apps, are compared unchanged. */
function toOrigin(origin: string): string {
  return /^https?:/i.test(origin) ? new URL(origin).origin : origin
}

/** Loaded for the first ceremony: the library with its certificate parsers is a tenth of the server's code. */
export const loadLibrary = () => import('@simplewebauthn/server')
