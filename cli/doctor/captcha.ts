/** Checks whether the captcha secret is a test key. */
import { type DoctorContext, type DoctorFinding, fail, pass, warn } from './finding.ts'

const forms = {
  hcaptcha: { form: /^(0x[0-9A-Fa-f]{40}|ES_[0-9a-f]{32})$/, what: 'ES_ and 32 hex digits' },
  turnstile: { form: /^0x4[\w-]{20,60}$/, what: 'a value that begins with 0x4' },
}

/** Published test keys: they accept or reject every response. */
const published = /^(0x0{40}|[123]x0{20,}[\w]{2})$/

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
  if (published.test(secret)) {
    return [
      fail(
        `AUTH_SECURITY_CAPTCHA_SECRET is a published test secret of ${provider}: it accepts every response. Set your own.`,
      ),
    ]
  }
  const { form, what } = forms[provider]
  if (form.test(secret)) return [pass(`The secret of ${provider} has the expected format.`)]
  return [
    warn(
      `AUTH_SECURITY_CAPTCHA_SECRET does not look like a secret of ${provider}: expected ${what}.`,
    ),
  ]
}
