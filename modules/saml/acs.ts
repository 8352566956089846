/** The assertion consumer service: signs in the user of an assertion (SAML 2.0 Profiles §4.1.4). */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { issueSamlCode } from '../../db/saml/logins.ts'
import { consumeOnceWithProvider, type SsoProviderRow } from '../../db/saml/providers.ts'
import type { RelayStateRow } from '../../db/saml/relay-states.ts'
import { isDeactivatedAt } from '../../db/scim/deactivation.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { ClientInfo } from '../../plugins/http/client-info/index.ts'
import {
  flowStateNotFound,
  providerNotAccepted,
  samlIdpInitiatedDisabled,
  samlResponseInvalid,
  userDeactivated,
} from '../../schemas/errors.ts'
import { mayOpenAccount } from '../access/index.ts'
import { createAuditEntry, recordAudit } from '../audit/index.ts'
import {
  completeExternalSignIn,
  permitExternalUser,
  readAssertedAddress,
} from '../identities/index.ts'
import type { ExternalUser } from '../identities/types.ts'
import {
  type JoiningConnection,
  joinByConnection,
  permitConnectionJoin,
} from '../organizations/index.ts'
import type { LinkContext } from '../otp/links.ts'
import type { CreatedSession } from '../sessions/create.ts'
import { createSession } from '../sessions/index.ts'
import type { CreationPermit } from '../users/sign-up/types.ts'
import { storeProviderSession } from './provider-session.ts'
import { isBrowserBound } from './relay.ts'
import { samlMethod } from './sign-on.ts'
import {
  findProvider,
  readPosted,
  requireEnabled,
  type VerifiedSamlResponse,
  verify,
} from './verify.ts'

interface PostedResponse {
  SAMLResponse: string
  /** The sign-in that it completes; undefined when it starts at the identity provider. */
  relay: RelayStateRow | undefined
}

interface AcsContext {
  aud: string
  ip: string
  clientInfo: ClientInfo
  links: LinkContext
}

type AcsOutcome = { state: 'session'; stored: CreatedSession } | { state: 'code'; code: string }

/**
 * Throws validation_failed, saml_idp_not_found, sso_provider_disabled, saml_idp_initiated_disabled,
 * saml_metadata_expired, saml_assertion_no_user_id, saml_assertion_no_email, and the errors of an external sign-in.
 */
export async function acceptResponse(
  app: FastifyInstance,
  { SAMLResponse, relay }: PostedResponse,
  context: AcsContext,
  now: Date,
): Promise<AcsOutcome> {
  const response = await readPosted(SAMLResponse, app)
  const provider = await findProvider(app, relay, response)
  if (!relay) checkIdpInitiated(app, provider)
  const verified = await verify(app, provider, relay, response, now)
  const external = {
    provider: `sso:${provider.id}`,
    identity: verified.identity,
    emailOptional: false,
  }
  const { aud, ip } = context
  const permit = await permitExternalUser(app, app.db, external, {}, { aud, ip })
  const connection = await permitConnectionJoin(app, external, ip)
  const completion = { provider, external, verified, relay, context, permit, connection }
  const outcome = await app.db.transaction().execute((trx) => complete(app, trx, completion, now))
  if (outcome.state === 'rejected') throw outcome.error
  return outcome
}

/** Throws saml_idp_initiated_disabled. */
function checkIdpInitiated(app: FastifyInstance, { idp_initiated }: SsoProviderRow): void {
  const byDefault = app.config.AUTH_SAML_ALLOW_IDP_INITIATED && !isBrowserBound(app)
  const isAllowed = idp_initiated ? idp_initiated === 'allow' : byDefault
  if (!isAllowed) throw samlIdpInitiatedDisabled()
}

interface Completion {
  provider: SsoProviderRow
  external: ExternalUser
  verified: VerifiedSamlResponse
  relay: RelayStateRow | undefined
  context: AcsContext
  permit: CreationPermit | undefined
  connection: JoiningConnection | undefined
}

async function complete(app: FastifyInstance, trx: Trx, completion: Completion, now: Date) {
  const { external, verified, relay, permit, connection } = completion
  const { clientInfo, ...context } = completion.context
  // It may have changed while a hook was called or metadata were fetched.
  const { replayKey, usableUntil } = verified
  const found = await consumeOnceWithProvider(trx, completion.provider.id, replayKey, usableUntil)
  const current = requireEnabled(found)
  if (!relay) checkIdpInitiated(app, current)
  if (!found?.is_first) throw samlResponseInvalid('its assertion was already used')
  const signIn = await completeExternalSignIn(app, trx, external, {}, { ...context, permit }, now)
  if (signIn.state === 'rejected') return signIn
  const { user, action } = signIn
  await checkOpenedAccount(app, trx, user, completion)
  if (connection) {
    const assertion = { identity: verified.identity, ip: context.ip }
    await joinByConnection(app, trx, connection, user, assertion, now)
  }
  const login = { sso_provider_id: completion.provider.id, user_id: user.id }
  if (relay?.flow_state_id) {
    const isNew = action === 'user_signedup'
    const traits = { provider: external.provider }
    if (isNew) await recordAudit(app.audit, trx, action, user, { ip: context.ip, now, traits })
    const code = crypto.randomUUID()
    const flow = { id: relay.flow_state_id, userId: user.id, code }
    if (!(await issueSamlCode(trx, flow, now))) throw flowStateNotFound()
    const owner = { ...login, flow_id: flow.id, session_id: null }
    await storeProviderSession(trx, owner, verified.session)
    return { state: 'code' as const, code }
  }
  const entry = createAuditEntry(app.audit, action, user, context.ip, {
    provider: external.provider,
  })
  const event = {
    method: samlMethod,
    clientInfo,
    audit: entry,
    notAfter: verified.session.end,
  } as const
  const stored = await createSession(app, trx, user, event, now)
  const owner = { ...login, flow_id: null, session_id: stored.facts.session.session_id }
  await storeProviderSession(trx, owner, verified.session)
  return { state: 'session' as const, stored }
}

// Whether the account of an assertion may be opened by its provider.

/**
 * At every sign-in, since the address of a linked account, the domain of the organization and the role of the user can
 * change. The user is locked. Throws provider_not_accepted and user_deactivated.
 */
async function checkOpenedAccount(
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  { provider, external }: { provider: SsoProviderRow; external: ExternalUser },
): Promise<void> {
  // It may open each account that it made.
  if (!user.is_sso_user) {
    const asserted = readAssertedAddress(external.identity)
    const assertion = { provider: external.provider, asserted }
    if (!(await mayOpenAccount(app, trx, user, assertion))) throw providerNotAccepted()
  }
  if (!app.config.AUTH_EXPERIMENTAL_SCIM_ENABLED) return
  // The account may be active with other sign-in methods.
  if (await isDeactivatedAt(trx, user.id, provider.id)) throw userDeactivated(403)
}
