/** Renders a page in the user's language and sets the cookie that its forms are bound to. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import { type CaptchaWidget, captchaWidgets } from '../../ui/captcha.ts'
import { hostedPages, type PageData, type PageName, type PageSet } from '../../ui/render.ts'
import type { Say, TextName } from '../../ui/texts.ts'
import { browserId, ensureCookie, formToken } from '../page-session/index.ts'

/** The content of a page. */
interface Shown<Text extends string = TextName> {
  title: (say: Say<Text>) => string
  next?: string
  status?: number
  error?: string | undefined
  /** Why the browser is back at the page: a key of the texts. */
  reason?: string | undefined
  /** The language that the client requested. */
  locales?: string | undefined
  captcha?: ShownCaptcha | undefined
  data?: (say: Say<Text>) => Record<string, unknown>
}

/**
 * Pages without a form of this server, which need no cookie: a form of another site comes without it (SameSite=Lax), and the response
 * must not replace the one that the browser has.
 */
const withoutForm: readonly string[] = ['message', 'form-post']

/** An error is a key of the texts. */
export function sendPage(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  name: PageName,
  shown: Shown,
): FastifyReply {
  return sendPageFromSet(hostedPages, app, { request, reply }, name, shown)
}

/** The request for the page, and its reply. */
export interface Exchange {
  request: FastifyRequest
  reply: FastifyReply
}

/** The same for another set of pages. */
export function sendPageFromSet<Name extends string, Text extends string>(
  pages: PageSet<Name, Text>,
  app: FastifyInstance,
  { request, reply }: Exchange,
  name: Name,
  {
    title,
    next = '',
    status = 200,
    error,
    reason,
    locales,
    captcha,
    data = () => ({}),
  }: Shown<Text>,
): FastifyReply {
  const cookie = withoutForm.includes(name)
    ? browserId(app, request)
    : ensureCookie(app, request, reply)
  const accepted = request.headers['accept-language']
  const language = app.languages.ofReader(locales?.replaceAll(' ', ',') ?? accepted)
  const html = pages.render(
    name,
    language,
    (say): PageData => ({
      base: app.config.AUTH_API_EXTERNAL_URL,
      formToken: cookie === undefined ? '' : formToken(app, cookie),
      next,
      nextEncoded: encodeURIComponent(next),
      title: title(say),
      error,
      reason,
      captcha,
      ...data(say),
    }),
  )
  return reply
    .status(status)
    .headers(pages.headers(captcha?.hosts, name))
    .type('text/html; charset=utf-8')
    .send(html)
}

// The captcha of the forms that lead to endpoints which require one.

/** The widget that a page shows, and the site key. */
interface ShownCaptcha extends CaptchaWidget {
  siteKey: string
}

/** Undefined where no captcha is required. */
export function getShownCaptcha({ config }: FastifyInstance): ShownCaptcha | undefined {
  const {
    AUTH_SECURITY_CAPTCHA_ENABLED: isOn,
    AUTH_SECURITY_CAPTCHA_PROVIDER: provider,
    AUTH_SECURITY_CAPTCHA_SITE_KEY: siteKey,
  } = config
  return isOn && provider && siteKey ? { ...captchaWidgets[provider], siteKey } : undefined
}

/** The field in which the API expects the solved challenge. */
export function captchaToken(app: FastifyInstance, fields: Readonly<Record<string, string>>) {
  const token = fields[getShownCaptcha(app)?.field ?? '']
  return token ? { captcha_token: token } : {}
}
