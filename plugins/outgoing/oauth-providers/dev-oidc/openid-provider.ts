/** The package oidc-provider, loaded when it is installed: production installs without development packages. */
import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

import { exportJWK, generateKeyPair } from 'jose'
import type { Adapter, AdapterPayload } from 'oidc-provider'

import type { ProviderSettings } from '../../../../providers/core/types.ts'
import { devPage, escaped } from '../../../http/pages/markup.ts'

export const mount = '/dev/oidc'
/** Seconds. */
const hour = 3600

export interface OpenidProvider {
  /** Handles a protocol request; `url` is the URL before it was rewritten for routing. */
  handle(request: IncomingMessage, response: ServerResponse, url: string): void
  /** Completes the login; undefined means cancelled. Resolves to the address to redirect to. */
  answer(
    request: IncomingMessage,
    response: ServerResponse,
    name: string | undefined,
  ): Promise<string>
}

export function isInstalled(): boolean {
  try {
    return import.meta.resolve('oidc-provider') !== ''
  } catch {
    return false
  }
}

export async function startOpenidProvider(settings: ProviderSettings): Promise<OpenidProvider> {
  const provider = await createProvider(settings)
  const handle = provider.callback()
  return {
    handle(request, response, url) {
      // Removes the mount path, which oidc-provider adds by itself.
      const path = url.slice(url.indexOf(mount) + mount.length)
      Object.assign(request, { originalUrl: url, url: path })
      handle(request, response)
    },
    answer: (request, response, name) =>
      provider.interactionResult(
        request,
        response,
        name === undefined
          ? { error: 'access_denied', error_description: 'The user said no' }
          : { login: { accountId: name } },
        { mergeWithLastSubmission: false },
      ),
  }
}

async function createProvider(settings: ProviderSettings) {
  const { clientIds, secret, redirectUri, issuer = '' } = settings
  const { interactionPolicy, Provider } = await import('oidc-provider')
  const { Check, base } = interactionPolicy
  const policy = base()
  // Asks every time, so that a developer can sign in as another user.
  const isUnanswered = new Check('each_time', 'every user is asked', ({ oidc }) =>
    oidc.result?.login === undefined ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT,
  )
  policy.get('login')?.checks.add(isUnanswered)
  const provider = new Provider(issuer, {
    adapter: createAdapter(),
    clients: [
      {
        client_id: clientIds[0] ?? '',
        client_secret: secret,
        redirect_uris: [redirectUri],
        response_types: ['code'],
      },
    ],
    jwks: { keys: [await newKey()] },
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    features: { devInteractions: { enabled: false } },
    interactions: { policy, url: (_context, { uid }) => `${mount}/login/${uid}` },
    pkce: { required: () => true },
    ttl: { AccessToken: hour, Grant: hour, IdToken: hour, Interaction: hour, Session: hour },
    conformIdTokenClaims: false,
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: (_context, name) => ({ accountId: name, claims: () => toDevUser(name) }),
    // Consent is implied by the typed name.
    async loadExistingGrant({ oidc }) {
      const { client, session } = oidc
      if (!client || !session?.accountId) return undefined
      const grant = new provider.Grant({
        clientId: client.clientId,
        accountId: session.accountId,
      })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
    renderError(context, { error, error_description }) {
      context.type = 'html'
      context.body = errorPage(`${error_description ?? error}`)
    },
  })
  return provider
}

/** Keeps everything until the server ends. The adapter of the package does the same, and prints a warning about it. */
function createAdapter(): (model: string) => Adapter {
  const stored = new Map<string, AdapterPayload>()
  return (model) => ({
    async upsert(id, payload) {
      stored.set(`${model}:${id}`, payload)
    },
    find: async (id) => stored.get(`${model}:${id}`),
    findByUid: async (uid) => stored.values().find((payload) => payload.uid === uid),
    findByUserCode: async () => undefined,
    async consume(id) {
      const payload = stored.get(`${model}:${id}`)
      if (payload) payload.consumed = Math.floor(Date.now() / 1000)
    },
    async destroy(id) {
      stored.delete(`${model}:${id}`)
    },
    async revokeByGrantId(grantId) {
      for (const [key, payload] of stored) if (payload.grantId === grantId) stored.delete(key)
    },
  })
}

async function newKey() {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  return { ...(await exportJWK(privateKey)), kid: 'dev', alg: 'RS256', use: 'sig' }
}

/**
 * The user for a typed name: an email address is used as is; for any other name, in any script, an address is derived.
 */
function toDevUser(typed: string) {
  const isAddress = /^[^\s@]+@[^\s@]+$/.test(typed)
  const email = isAddress ? typed : `${toLocalPart(typed)}@dev.example`
  const name = isAddress ? typed.slice(0, typed.indexOf('@')) : typed
  return { sub: typed, name, email, email_verified: true }
}

function toLocalPart(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '.')
    .replaceAll(/^\.|\.$/g, '')
    .slice(0, 60)
  return plain || `user-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`
}

export const devOidcPageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  // Without form-action: browsers apply it to redirects after a form as well, and these lead to the site.
  'content-security-policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'same-origin',
}

/** The form posts to its own address. */
export function loginPage(): string {
  return page(
    'Who are you today?',
    `<p>This provider is part of the development server. Any name signs in, and any address; no one is asked for a password.</p>
<form method="post">
<label>Name or address <input name="name" autocomplete="off" maxlength="200" value="Ann" required autofocus></label>
<div class="buttons"><button class="primary" name="answer" value="yes">Sign in</button>
<button name="answer" value="no" formnovalidate>Cancel</button></div>
</form>`,
  )
}

/** For a login that has expired or belongs to another browser. */
export function errorPage(reason: string): string {
  return page(
    'That did not work',
    `<p>${escaped(reason)}. Go back to the site and try once more.</p>`,
  )
}

function page(heading: string, body: string): string {
  return devPage({
    title: heading,
    body: `<header class="bar"><span class="home">Provider “dev”</span></header>
<main class="page"><h1>${heading}</h1>
${body}
</main>`,
  })
}
