/** The sign-in page with every enabled method. */
import type { FastifyInstance, FastifyReply } from 'fastify'

import {
  findAuthorization,
  type StoredAuthorization,
} from '../../../db/oauth-server/authorizations.ts'
import { findClientById } from '../../../db/oauth-server/clients.ts'
import { findMissing } from '../../../modules/oauth-server/index.ts'
import { ensureCookie, findSignedIn, linkFlow } from '../../../modules/page-session/index.ts'
import {
  type Exchange,
  getHost,
  getNextUrl,
  getShownCaptcha,
  type Reason,
  sendPage,
  toAnswering,
} from '../../../modules/pages/index.ts'

interface Shown {
  next: string
  email: string
  error?: string
  /** Why the browser is back at this page. */
  reason?: Reason | undefined
  /** The form for a phone number is open. */
  isByPhone?: boolean
}

export async function showSignIn(
  app: FastifyInstance,
  exchange: Exchange,
  { next, email, error, reason, isByPhone = false }: Shown,
): Promise<FastifyReply> {
  const { config } = app
  const { request, reply } = exchange
  const hasPassword = config.AUTH_EXTERNAL_EMAIL_ENABLED
  const hasPhone = config.AUTH_EXTERNAL_PHONE_ENABLED
  const hasSso = config.AUTH_SAML_ENABLED
  const cookie = ensureCookie(app, request, reply)
  const client = await findRequestingApp(app, next)
  const onward = await findOnward(app, exchange, { next, client, reason })
  return sendPage(app, request, reply, 'sign-in', {
    title: (say) => say('sign_in'),
    next,
    error,
    reason,
    status: error ? 400 : 200,
    captcha: getShownCaptcha(app),
    locales: client?.locales,
    data: () => ({
      app: client?.name,
      email,
      onward,
      isByPhone,
      hasUsernames: config.AUTH_USERNAMES_ENABLED,
      hasPassword,
      hasPhone,
      hasSso,
      hasForm: hasPassword || hasPhone || hasSso,
      hasPasskeys: config.AUTH_PASSKEY_ENABLED,
      providers: providersFor(app, cookie, next),
      mayCreate: mayCreate(app),
    }),
  })
}

/** Whether there is a sign-up page. */
export const mayCreate = ({ config }: Pick<FastifyInstance, 'config'>): boolean =>
  !config.AUTH_DISABLE_SIGNUP && config.AUTH_EXTERNAL_EMAIL_ENABLED

/** For a user who is signed in already, as after a link that was opened twice; undefined where a new sign-in is needed. */
async function findOnward(
  app: FastifyInstance,
  { request }: Exchange,
  {
    next,
    client,
    reason,
  }: { next: string; client: RequestingApp | undefined; reason: Reason | undefined },
) {
  const now = new Date()
  const signedIn = await findSignedIn(app, request, now)
  if (!signedIn || reason === 'recent_sign_in' || reason === 'too_new') {
    return undefined
  }
  const answering = toAnswering(app, signedIn, request, now)
  if (client && findMissing(client.authorization, answering) === 'sign_in') return undefined
  const { session } = signedIn
  const account = session.email || session.phone || session.id
  return { account, url: getNextUrl(app, next) }
}

// The buttons of external providers.

interface Button {
  name: string
  url: string
}

/** The enabled providers. Their links lead to the provider, and back to the pages in this browser. */
function providersFor(app: FastifyInstance, cookie: string, next: string): Button[] {
  const { config, oauthProviders } = app
  const flow = linkFlow(app, cookie, next)
  const on = Object.entries(oauthProviders.switches).filter(([, isOn]) => isOn)
  return on.map(([provider]) => {
    const query = new URLSearchParams({ provider, ...flow })
    return {
      name: oauthProviders.getTitle(provider),
      url: `${config.AUTH_API_EXTERNAL_URL}/authorize?${query}`,
    }
  })
}

// The application that requested the sign-in.

interface RequestingApp {
  /** For a client that registered itself, the host: its name is unverified. */
  name: string
  /** The requested languages. */
  locales: string | undefined
  authorization: StoredAuthorization
}

/** Undefined for a sign-in without an application. */
async function findRequestingApp(
  { db }: FastifyInstance,
  next: string,
): Promise<RequestingApp | undefined> {
  const id = new URLSearchParams(next.split('?')[1] ?? '').get('authorization_id')
  const authorization = id ? await findAuthorization(db, id) : undefined
  const client = authorization && (await findClientById(db, authorization.client_id))
  if (!client) return undefined
  const host = getHost(authorization.redirect_uri)
  const name = client.registration_type === 'manual' ? client.client_name || host : host
  return { name, locales: authorization.parameters?.ui_locales, authorization }
}
