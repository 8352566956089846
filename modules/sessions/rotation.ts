import type { TokenSession } from '../../db/sessions/sessions.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import type { ClientInfo } from '../../plugins/http/client-info/index.ts'
import type { ApiError } from '../../schemas/errors.ts'

/** The client that presents a refresh token. */
export interface Presenter extends ClientInfo {
  /** The authenticated OAuth client; only it may refresh its sessions. */
  oauthClientId?: string
  /** The organization of the token; the session's active one when absent. */
  organizationId?: string | undefined
}

/** A rejection is returned, not thrown, so that its writes are committed. */
export type RotationOutcome = RotationResult | ApiError

export interface RotationResult {
  record: TokenSession
  /** The token of the response. */
  token: string
  outcome: 'rotated' | 'reused'
}

export type RefreshDeps = Deps<
  'audit' | 'bearerAuth' | 'config' | 'db' | 'emails' | 'encryption' | 'events' | 'gotrueMigration'
>
