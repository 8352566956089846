/** Pages without a form of their own: a message with the way on, and pages that lead on by themselves. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import type { StoredAuthorization } from '../../db/oauth-server/authorizations.ts'
import { findClientById } from '../../db/oauth-server/clients.ts'
import type { Say } from '../../ui/texts.ts'
import { sendPage } from './send.ts'

/** A link with its text. */
interface WayOn {
  url: string
  text: (say: Say) => string
}

interface Message {
  title: (say: Say) => string
  text?: (say: Say) => string
  status?: number
  /** Where the user goes on. By default the account page or, without one, AUTH_SITE_URL. */
  wayOn?: WayOn
}

/** A page with a sentence and the way on. */
export function sendMessage(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  { title, text, status = 200, wayOn = getDefaultWayOn(app) }: Message,
): FastifyReply {
  return sendPage(app, request, reply, 'message', {
    title,
    status,
    data: (say) => ({ text: text?.(say), link: wayOn.url, linkText: wayOn.text(say) }),
  })
}

function getDefaultWayOn(app: FastifyInstance): WayOn {
  const url = getNextUrl(app, '')
  return app.config.AUTH_ACCOUNT_PAGE_ENABLED
    ? { url, text: (say) => say('your_account') }
    : wayTo(url)
}

/** A way on to another site. */
export const wayTo = (url: string): WayOn => ({
  url,
  text: (say) => say('go', { host: getHost(url) }),
})

/** The way on of a user who is signed out. */
export const wayToSignIn = ({ config }: FastifyInstance): WayOn => ({
  url: `${config.AUTH_API_EXTERNAL_URL}/sign-in`,
  text: (say) => say('sign_in'),
})

/**
 * A page that navigates automatically. After a form, browsers apply `form-action` to redirects, which would block
 * clients on other origins.
 */
export function sendOnward(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  url: string,
): FastifyReply {
  return sendPage(app, request, reply, 'message', {
    title: (say) => say('going'),
    data: (say) => ({ refresh: url, link: url, linkText: wayTo(url).text(say), text: undefined }),
  })
}

/**
 * The authorization request of the page is unknown, was decided, or has expired. The user starts again in the
 * application; only one that an admin created is linked.
 */
export async function sendUnknownRequest(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  stored?: StoredAuthorization,
): Promise<FastifyReply> {
  const site = stored && (await findSite(app, stored))
  return sendMessage(app, request, reply, {
    title: (say) => say('error_title'),
    status: stored ? 410 : 404,
    text: (say) => say('error_request'),
    ...(site && { wayOn: wayTo(site) }),
  })
}

async function findSite(
  { db }: FastifyInstance,
  { client_id: clientId, redirect_uri: redirectUri }: StoredAuthorization,
): Promise<string | undefined> {
  const client = await findClientById(db, clientId)
  if (client?.registration_type !== 'manual') return undefined
  if (client.client_uri) return client.client_uri
  return /^https?:/.test(redirectUri) ? new URL(redirectUri).origin : undefined
}

interface FormTarget {
  redirectUri: string
  fields: readonly [name: string, value: string][]
}

/**
 * A form that the browser posts to a client by itself (OAuth 2.0 Form Post Response Mode), or the user for an error of a
 * client that registered itself.
 */
export function sendFormResponse(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  { redirectUri: target, fields }: FormTarget,
  { error }: { error?: string } = {},
): FastifyReply {
  return sendPage(app, request, reply, 'form-post', {
    title: (say) => say(error === undefined ? 'going' : 'error_title'),
    status: error === undefined ? 200 : 400,
    data: (say) => ({
      text: error === undefined ? undefined : say('rejected_request', { error }),
      target,
      host: getHost(target),
      fields,
      submits: error === undefined,
    }),
  })
}

/** Continues at a page of this server; when `next` is empty, at the account page if there is one, else at AUTH_SITE_URL. */
export function sendToNext(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  next: string,
): FastifyReply {
  return sendOnward(app, request, reply, getNextUrl(app, next))
}

/** The URL of the same. */
export function getNextUrl({ config }: FastifyInstance, next: string): string {
  const { AUTH_ACCOUNT_PAGE_ENABLED, AUTH_API_EXTERNAL_URL: base, AUTH_SITE_URL } = config
  const page = next || (AUTH_ACCOUNT_PAGE_ENABLED ? '/account' : '')
  return page ? `${base}${page}` : AUTH_SITE_URL
}

/** Host of a web address, or the scheme of an app. */
export function getHost(url: string): string {
  const { protocol, host } = new URL(url)
  if (protocol === 'https:' || protocol === 'http:') return host
  return host ? `${protocol}//${host}` : `${protocol}/`
}
