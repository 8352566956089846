/** Renders a page in the user's language and sets the cookie that its forms are bound to. */
import type { FastifyReply, FastifyRequest } from 'fastify'

import type { Deps } from '../../plugins/define-plugin.ts'
import { hostedPages, type PageData, type PageName, type PageSet } from '../../ui/render.ts'
import type { Say, TextName } from '../../ui/texts.ts'
import { browserId, cookieHeader, formToken, makeBrowserId } from '../page-session/index.ts'
import type { ShownCaptcha } from './captcha.ts'

export type PageDeps = Deps<'config' | 'encryption' | 'languages'>

/** The content of a page. */
interface Shown<Text extends string = TextName> {
  title: (say: Say<Text>) => string
  next?: string
  status?: number
  error?: string | undefined
  /** The language that the client requested. */
  locales?: string | undefined
  captcha?: ShownCaptcha | undefined
  data?: (say: Say<Text>) => Record<string, unknown>
}

/** Cookies of requests that came without one: all links and forms of a page are bound to the same cookie. */
const newCookies = new WeakMap<FastifyRequest, string>()

/** The cookie of the browser, created when there is none. */
export function ensureCookie(deps: PageDeps, request: FastifyRequest, reply: FastifyReply): string {
  const known = browserId(deps, request) ?? newCookies.get(request)
  if (known !== undefined) return known
  const made = makeBrowserId()
  newCookies.set(request, made)
  reply.header('set-cookie', cookieHeader(deps, made))
  return made
}

/**
 * Pages without a form, which need no cookie: a form of another site comes without it (SameSite=Lax), and the response
 * must not replace the one that the browser has.
 */
const withoutForm: readonly string[] = ['message']

/** An error is a key of the texts. */
export function sendPage(
  deps: PageDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  name: PageName,
  shown: Shown,
): FastifyReply {
  return sendPageFromSet(hostedPages, deps, { request, reply }, name, shown)
}

/** The request for the page, and its reply. */
export interface Exchange {
  request: FastifyRequest
  reply: FastifyReply
}

/** The same for another set of pages. */
export function sendPageFromSet<Name extends string, Text extends string>(
  pages: PageSet<Name, Text>,
  deps: PageDeps,
  { request, reply }: Exchange,
  name: Name,
  { title, next = '', status = 200, error, locales, captcha, data = () => ({}) }: Shown<Text>,
): FastifyReply {
  const cookie = withoutForm.includes(name)
    ? browserId(deps, request)
    : ensureCookie(deps, request, reply)
  const accepted = request.headers['accept-language']
  const language = deps.languages.ofReader(locales?.replaceAll(' ', ',') ?? accepted)
  const html = pages.render(
    name,
    language,
    (say): PageData => ({
      base: deps.config.AUTH_API_EXTERNAL_URL,
      formToken: cookie === undefined ? '' : formToken(deps, cookie),
      next,
      nextEncoded: encodeURIComponent(next),
      title: title(say),
      error,
      captcha,
      ...data(say),
    }),
  )
  return reply
    .status(status)
    .headers(pages.headers(captcha?.hosts))
    .type('text/html; charset=utf-8')
    .send(html)
}

/**
 * A page that navigates automatically. After a form, browsers apply `form-action` to redirects, which would block
 * clients on other origins.
 */
export function sendOnward(
  deps: PageDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  url: string,
): FastifyReply {
  const host = getHost(url)
  return sendPage(deps, request, reply, 'message', {
    title: (say) => say('going'),
    data: () => ({ refresh: url, link: url, host, text: undefined }),
  })
}

/** Continues at a page of this server; when `next` is empty, at the account page if there is one, else at AUTH_SITE_URL. */
export function sendToNext(
  deps: PageDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  next: string,
): FastifyReply {
  const { AUTH_ACCOUNT_PAGE_ENABLED, AUTH_API_EXTERNAL_URL: base, AUTH_SITE_URL } = deps.config
  const page = next || (AUTH_ACCOUNT_PAGE_ENABLED ? '/account' : '')
  return sendOnward(deps, request, reply, page ? `${base}${page}` : AUTH_SITE_URL)
}

/** Host of a web address, or the scheme of an app. */
export function getHost(url: string): string {
  const { protocol, host } = new URL(url)
  return protocol === 'https:' || protocol === 'http:' ? host : `${protocol}//${host}`
}
