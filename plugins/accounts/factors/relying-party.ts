/** For which site WebAuthn factors are made, and from which origins they may be used. */
import { unexpectedFailure } from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'

/** Throws unexpected_failure where AUTH_WEBAUTHN_RP_ID, _RP_DISPLAY_NAME or _RP_ORIGINS is missing. */
export function relyingParty({ config }: House<'config'>) {
  const {
    AUTH_WEBAUTHN_RP_ID: id,
    AUTH_WEBAUTHN_RP_DISPLAY_NAME: name,
    AUTH_WEBAUTHN_RP_ORIGINS: origins,
  } = config
  if (id === undefined || name === undefined || origins.length === 0) {
    throw unexpectedFailure(
      'Security keys cannot be used: the operator has to set AUTH_WEBAUTHN_RP_ID, AUTH_WEBAUTHN_RP_DISPLAY_NAME and AUTH_WEBAUTHN_RP_ORIGINS.',
    )
  }
  return { id, name, origins: origins.map(toOrigin) }
}

/** As browsers write it; the origin of an Android app (`android:apk-key-hash:...`) is one already. */
function toOrigin(origin: string): string {
  return /^https?:/i.test(origin) ? new URL(origin).origin : origin
}
