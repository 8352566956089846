/** An external sign-in under way, as it is read from its row. */
import type { FastifyInstance } from 'fastify'

import type { FlowStateRow } from '../../../db/flow-states.ts'
import type { FlowSecrets } from '../../oauth-providers.ts'

export interface ExternalFlow {
  id: string
  provider: string
  /** Where the browser goes in the end. */
  target: string
  emailOptional: boolean
  /** The person who asked for another way to sign in. */
  linkingTargetId: string | null
  inviteToken: string | undefined
  secrets: FlowSecrets
  /** Of a client that waits for a code (RFC 7636). */
  pkce: Pick<FlowStateRow, 'code_challenge' | 'code_challenge_method'> | undefined
}

/** What waits in the row until the callback, encrypted. */
export interface Waiting extends FlowSecrets {
  inviteToken?: string
}

export interface ReadFlowDeps {
  encryption: Pick<FastifyInstance['encryption'], 'encrypt' | 'decrypt'>
  siteUrl: string
  /** Every external sign-in ends here, whatever the client asked for. */
  fixedTarget: string | undefined
}

export function createReadFlow({ encryption, siteUrl, fixedTarget }: ReadFlowDeps) {
  function open(id: string, sealed: string | null): Waiting {
    return sealed ? JSON.parse(encryption.decrypt(id, sealed, 'An external sign-in')) : {}
  }

  return (row: FlowStateRow): ExternalFlow => {
    const { code_challenge, code_challenge_method, postern_secrets } = row
    const { inviteToken, ...secrets } = open(row.id, postern_secrets)
    return {
      id: row.id,
      provider: row.provider_type,
      target: fixedTarget ?? (row.referrer || siteUrl),
      emailOptional: row.email_optional,
      linkingTargetId: row.linking_target_id,
      inviteToken,
      secrets,
      pkce: code_challenge ? { code_challenge, code_challenge_method } : undefined,
    }
  }
}
