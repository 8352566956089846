/** The assertion consumer service: signs in the user of an assertion (SAML 2.0 Profiles §4.1.4). */
import type { Trx } from '../../db/core/database.ts'
import { consumeOnce } from '../../db/replays/replays.ts'
import { issueSamlCode } from '../../db/saml/codes.ts'
import { findSsoProvider, type SsoProviderRow } from '../../db/saml/providers.ts'
import { consumeRelayState, type RelayStateRow } from '../../db/saml/relay-states.ts'
import { isDeactivatedAt } from '../../db/scim/deactivation.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import type { ClientInfo } from '../../plugins/http/client-info/index.ts'
import {
  flowStateNotFound,
  samlRelayStateExpired,
  samlRelayStateNotFound,
  samlResponseInvalid,
  userDeactivated,
} from '../../schemas/errors.ts'
import { isUuid } from '../../schemas/fields.ts'
import { createAuditEntry, recordAudit } from '../audit/index.ts'
import { completeExternalSignIn, permitExternalUser } from '../identities/index.ts'
import type { ExternalUser } from '../identities/types.ts'
import {
  type JoiningConnection,
  joinByConnection,
  permitConnectionJoin,
} from '../organizations/index.ts'
import type { LinkContext } from '../otp/link-context.ts'
import type { CreatedSession } from '../sessions/create.ts'
import { createSession } from '../sessions/index.ts'
import type { CreationPermit } from '../users/sign-up/types.ts'
import { storeProviderSession } from './provider-session.ts'
import { samlMethod } from './sign-on.ts'
import {
  findProvider,
  readPosted,
  requireEnabled,
  type VerifiedSamlResponse,
  verify,
} from './verify.ts'

type ServiceDeps = Deps<
  'audit' | 'config' | 'db' | 'httpClient' | 'identities' | 'log' | 'organizations' | 'sessions'
>

interface PostedResponse {
  SAMLResponse: string
  RelayState: string
}

interface AcsContext {
  aud: string
  ip: string
  clientInfo: ClientInfo
  links: LinkContext
}

/** The redirect target with its result. */
type AcsOutcome =
  | { state: 'session'; redirectTo: string | undefined; stored: CreatedSession }
  | { state: 'code'; redirectTo: string | undefined; code: string }

/**
 * Throws validation_failed, saml_relay_state_not_found, saml_relay_state_expired, saml_idp_not_found,
 * sso_provider_disabled, saml_metadata_expired, saml_assertion_no_user_id, saml_assertion_no_email, and the errors of
 * an external sign-in.
 */
export async function acceptResponse(
  deps: ServiceDeps,
  posted: PostedResponse,
  context: AcsContext,
  now: Date,
): Promise<AcsOutcome> {
  const relay = await consumeRelay(deps, posted.RelayState, now)
  const response = await readPosted(posted.SAMLResponse, deps)
  const provider = await findProvider(deps, relay, response)
  const verified = await verify(deps, provider, relay, response, now)
  const external = {
    provider: `sso:${provider.id}`,
    identity: verified.identity,
    emailOptional: false,
  }
  const { aud, ip } = context
  const permit = await permitExternalUser(deps.identities, deps.db, external, {}, { aud, ip })
  const connection = await permitConnectionJoin(deps.organizations, external, ip)
  const completion = { provider, external, verified, relay, context, permit, connection }
  const outcome = await deps.db.transaction().execute((trx) => complete(deps, trx, completion, now))
  if (outcome.state === 'rejected') throw outcome.error
  const redirectTo = relay ? (relay.redirect_to ?? undefined) : posted.RelayState || undefined
  return { ...outcome, redirectTo }
}

/**
 * Consumes the relay state before verification, so that there is one attempt. Undefined for an IdP-initiated sign-in.
 */
async function consumeRelay(
  { config, db }: Deps<'config' | 'db'>,
  relayState: string,
  now: Date,
): Promise<RelayStateRow | undefined> {
  if (!isUuid(relayState)) return undefined
  const relay = await consumeRelayState(db, relayState)
  if (!relay) throw samlRelayStateNotFound()
  checkRelayAge({ config }, relay, now)
  return relay
}

/** Throws saml_relay_state_expired. */
export function checkRelayAge(
  { config }: Deps<'config'>,
  { created_at }: RelayStateRow,
  now: Date,
): void {
  const ageMs = now.getTime() - (created_at?.getTime() ?? 0)
  if (ageMs > config.AUTH_SAML_RELAY_STATE_VALIDITY_PERIOD * 1000) throw samlRelayStateExpired()
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

async function complete(deps: ServiceDeps, trx: Trx, completion: Completion, now: Date) {
  const { external, verified, relay, permit, connection } = completion
  const { clientInfo, ...context } = completion.context
  // Disabled or deleted while a hook was called or metadata were fetched.
  requireEnabled(await findSsoProvider(trx, completion.provider.id))
  if (!(await consumeOnce(trx, verified.replayKey, verified.usableUntil))) {
    throw samlResponseInvalid('its assertion was already used')
  }
  const found = await completeExternalSignIn(
    deps.identities,
    trx,
    external,
    {},
    { ...context, permit },
    now,
  )
  if (found.state === 'rejected') return found
  const { user, action } = found
  await rejectDeactivated(deps, trx, user.id, completion.provider)
  if (connection) {
    const signIn = { identity: verified.identity, ip: context.ip }
    await joinByConnection(deps.organizations, trx, connection, user, signIn, now)
  }
  const login = { sso_provider_id: completion.provider.id, user_id: user.id }
  if (relay?.flow_state_id) {
    const isNew = action === 'user_signedup'
    const traits = { provider: external.provider }
    if (isNew) await recordAudit(deps.audit, trx, action, user, { ip: context.ip, now, traits })
    const code = crypto.randomUUID()
    const flow = { id: relay.flow_state_id, userId: user.id, code }
    if (!(await issueSamlCode(trx, flow, now))) throw flowStateNotFound()
    const owner = { ...login, flow_id: flow.id, session_id: null }
    await storeProviderSession(trx, owner, verified.session)
    return { state: 'code' as const, code }
  }
  const entry = createAuditEntry(deps.audit, action, user, context.ip, {
    provider: external.provider,
  })
  const event = {
    method: samlMethod,
    clientInfo,
    audit: entry,
    notAfter: verified.session.end,
  } as const
  const stored = await createSession(deps.sessions, trx, user, event, now)
  const owner = { ...login, flow_id: null, session_id: stored.facts.session.session_id }
  await storeProviderSession(trx, owner, verified.session)
  return { state: 'session' as const, stored }
}

/** The account may be active with other sign-in methods. The user is locked. Throws user_deactivated. */
async function rejectDeactivated(
  { config }: Deps<'config'>,
  trx: Trx,
  userId: string,
  { id }: SsoProviderRow,
): Promise<void> {
  if (!config.AUTH_EXPERIMENTAL_SCIM_ENABLED) return
  if (await isDeactivatedAt(trx, userId, id)) throw userDeactivated(403)
}
