/** Checks the other services of the server: Redis, disk, identity providers, captcha and SMS. */
import { access, constants, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'

import type { Config, ConfigVariableName } from '../../config/groups/index.ts'
import { issuerProviders, namedProviders } from '../../plugins/outgoing/oauth-providers/settings.ts'
import { ProviderError } from '../../providers/core/provider-error.ts'
import { createProviderHttp } from '../../providers/provider-http.ts'
import { createOauthProvider } from '../../providers/registry.ts'
import { describeExpiredMetadata } from '../shared/checks.ts'
import {
  type DoctorContext,
  type DoctorFinding,
  describeError,
  fail,
  pass,
  warn,
} from './finding.ts'

const captchaForms = {
  hcaptcha: { form: /^(0x[0-9A-Fa-f]{40}|ES_[0-9a-f]{32})$/, what: 'ES_ and 32 hex digits' },
  turnstile: { form: /^0x4[\w-]{20,60}$/, what: 'a value that begins with 0x4' },
}

/** Published test keys: they accept or reject every response. */
const publishedSecret = /^(0x0{40}|[123]x0{20,}[\w]{2})$/

/** Checks whether the captcha secret is a test key. */
export function checkCaptcha({ config }: Pick<DoctorContext, 'config'>): DoctorFinding[] {
  const provider = config.AUTH_SECURITY_CAPTCHA_PROVIDER
  const secret = config.AUTH_SECURITY_CAPTCHA_SECRET ?? ''
  if (!config.AUTH_SECURITY_CAPTCHA_ENABLED || !provider) {
    const isOpen = !config.AUTH_DISABLE_SIGNUP
    return isOpen
      ? [
          warn(
            'Sign-up is open without a captcha: set AUTH_SECURITY_CAPTCHA_ENABLED, or expect bots.',
          ),
        ]
      : []
  }
  if (publishedSecret.test(secret)) {
    return [
      fail(
        `AUTH_SECURITY_CAPTCHA_SECRET is a published test secret of ${provider}: it accepts every response. Set your own.`,
      ),
    ]
  }
  const { form, what } = captchaForms[provider]
  if (form.test(secret)) return [pass(`The secret of ${provider} has the expected format.`)]
  return [
    warn(
      `AUTH_SECURITY_CAPTCHA_SECRET does not look like a secret of ${provider}: expected ${what}.`,
    ),
  ]
}

type SmsForm = [variable: ConfigVariableName, form: RegExp, what: string]
type SmsProvider = NonNullable<Config['AUTH_SMS_PROVIDER']>

/** E.164, or up to eleven letters and digits. */
const smsSender = /^(\+?[1-9]\d{6,14}|[\w &.+-]{1,11})$/

const smsForms: Record<SmsProvider, SmsForm[]> = {
  twilio: [
    ['AUTH_SMS_TWILIO_ACCOUNT_SID', /^AC[0-9a-f]{32}$/, 'AC and 32 hex digits'],
    ['AUTH_SMS_TWILIO_AUTH_TOKEN', /^[0-9a-f]{32}$/, '32 hex digits'],
    [
      'AUTH_SMS_TWILIO_MESSAGE_SERVICE_SID',
      /^(MG[0-9a-f]{32}|(whatsapp:)?\+[1-9]\d{6,14}|[\w ]{1,11})$/,
      'MG and 32 hex digits, or a sender',
    ],
  ],
  twilio_verify: [
    ['AUTH_SMS_TWILIO_VERIFY_ACCOUNT_SID', /^AC[0-9a-f]{32}$/, 'AC and 32 hex digits'],
    ['AUTH_SMS_TWILIO_VERIFY_AUTH_TOKEN', /^[0-9a-f]{32}$/, '32 hex digits'],
    [
      'AUTH_SMS_TWILIO_VERIFY_MESSAGE_SERVICE_SID',
      /^VA[0-9a-f]{32}$/,
      'VA and 32 hex digits, the SID of a Verify service',
    ],
  ],
  messagebird: [
    [
      'AUTH_SMS_MESSAGEBIRD_ACCESS_KEY',
      /^(live_)?[A-Za-z0-9]{25}$/,
      '25 letters and digits of a live key',
    ],
    [
      'AUTH_SMS_MESSAGEBIRD_ORIGINATOR',
      smsSender,
      'a number, or at most eleven letters and digits',
    ],
  ],
  textlocal: [
    ['AUTH_SMS_TEXTLOCAL_API_KEY', /^\S{20,}$/, 'at least 20 characters'],
    ['AUTH_SMS_TEXTLOCAL_SENDER', smsSender, 'a number, or at most eleven letters and digits'],
  ],
  vonage: [
    ['AUTH_SMS_VONAGE_API_KEY', /^[0-9a-f]{8}$/, 'eight hex digits'],
    ['AUTH_SMS_VONAGE_API_SECRET', /^\S{8,25}$/, '8 to 25 characters'],
    ['AUTH_SMS_VONAGE_FROM', smsSender, 'a number, or at most eleven letters and digits'],
  ],
}

/** Checks the format of SMS provider credentials. No SMS is sent. */
export function checkSms({ config }: Pick<DoctorContext, 'config'>): DoctorFinding[] {
  const { AUTH_SMS_PROVIDER: provider, AUTH_EXTERNAL_PHONE_ENABLED: isOn } = config
  if (!isOn) return []
  if (config.AUTH_HOOK_SEND_SMS_ENABLED) return [pass('The send SMS hook sends all SMS.')]
  if (!provider && config.dev) return [pass('In development SMS are only in the inbox.')]
  if (!provider) {
    return [fail('Phone sign-in is enabled without an SMS provider: set AUTH_SMS_PROVIDER.')]
  }
  const invalid = smsForms[provider].filter(
    ([variable, form]) => !form.test(String(config[variable])),
  )
  if (invalid.length === 0) {
    return [pass(`The credentials of ${provider} have the expected format.`)]
  }
  return invalid.map(([variable, , what]) =>
    warn(`${variable} does not look like a credential of ${provider}: expected ${what}.`),
  )
}

const providerTimeoutMs = 10_000

/** Checks whether each enabled provider is reachable and knows the client id, without a sign-in. */
export async function checkProviders({
  config,
  fetch,
  now,
}: DoctorContext): Promise<DoctorFinding[]> {
  const upstream = createProviderHttp({
    fetch,
    timeoutMs: providerTimeoutMs,
    discoverySeconds: 3600,
  })
  const settings = [...namedProviders(config), ...issuerProviders(config)]
  const found = settings.map(async ([name, values]): Promise<DoctorFinding> => {
    try {
      const provider = createOauthProvider(name, values, upstream)
      if (!provider) return fail(`${name} is not a known provider.`)
      const request = { state: 'doctor', scopes: [], params: {}, now }
      const { url } = await provider.authorizationUrl(request)
      return toFinding(name, await fetchStatus(url, fetch))
    } catch (error) {
      const reason = error instanceof ProviderError ? error.message : describeError(error)
      return fail(
        `${name} cannot be used (${reason}): check its URL and the outgoing network access.`,
      )
    }
  })
  return Promise.all(found)
}

/** The status of the provider's sign-in page. */
async function fetchStatus(url: URL, fetch: typeof globalThis.fetch): Promise<number> {
  const signal = AbortSignal.timeout(providerTimeoutMs)
  const response = await fetch(url, { redirect: 'manual', signal })
  await response.body?.cancel()
  return response.status
}

function toFinding(name: string, status: number): DoctorFinding {
  if (status < 400) return pass(`${name} is available and shows a sign-in page.`)
  if (status >= 500) return warn(`${name} returns status ${status}: the provider has a problem.`)
  return warn(
    `The authorization endpoint of ${name} returns status ${status}: check that client id and redirect URI are registered there. Some providers reject programs, so try it in a browser.`,
  )
}

/** Checks that the metadata of each identity provider has not expired. */
export async function checkSaml(context: DoctorContext): Promise<DoctorFinding[]> {
  // Before the first start, or when the database is unavailable, which has a separate check.
  const expired = await describeExpiredMetadata(context, context.now).catch(() => [])
  return expired.map(fail)
}

const redisTimeoutMs = 3_000

/** Checks Redis, which shares the rate limit counters. */
export async function checkRedis({ config }: DoctorContext): Promise<DoctorFinding[]> {
  const { AUTH_REDIS_URL: url, AUTH_WORKERS: workers } = config
  if (!url) {
    if (workers === 1) return []
    return [
      warn(
        `Each of the ${workers} workers counts rate limits separately: set AUTH_REDIS_URL to share the counters.`,
      ),
    ]
  }
  const { Redis } = await import('ioredis')
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: redisTimeoutMs,
    commandTimeout: redisTimeoutMs,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  })
  let lost: unknown
  client.on('error', (error) => {
    lost = error
  })
  try {
    await client.connect()
    await client.ping()
    return [pass('Redis responds.')]
  } catch (error) {
    const { host } = new URL(url)
    return [
      fail(
        `Redis at ${host} does not respond (${describeError(lost ?? error)}): each replica counts separately until it does. Check AUTH_REDIS_URL.`,
      ),
    ]
  } finally {
    client.disconnect()
  }
}

const gibibyte = 2 ** 30

/** Checks whether the log is writable, and the free space. */
export async function checkDisk({
  config,
}: Pick<DoctorContext, 'config'>): Promise<DoctorFinding[]> {
  const file = config.AUTH_LOG_FILE
  if (!file) return []
  const folder = dirname(file)
  try {
    await access(folder, constants.W_OK)
    const { bavail, bsize } = await statfs(folder)
    return [room(folder, bavail * bsize)]
  } catch (error) {
    return [
      fail(
        `The log cannot be written to ${folder} (${describeError(error)}): check AUTH_LOG_FILE.`,
      ),
    ]
  }
}

function room(folder: string, bytes: number): DoctorFinding {
  const fact = `${folder} has ${(bytes / gibibyte).toFixed(1)} GiB free for the log`
  if (bytes >= gibibyte) return pass(`${fact}.`)
  return warn(`${fact}: free some space, and rotate the log with logrotate.`)
}
