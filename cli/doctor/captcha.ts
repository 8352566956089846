/** Whether the secret of the captcha provider is a real one. */
import { type Finding, fail, pass, type Surroundings, warn } from './finding.ts'

const forms = {
  hcaptcha: { form: /^(0x[0-9A-Fa-f]{40}|ES_[0-9a-f]{32})$/, what: 'ES_ and 32 hex digits' },
  turnstile: { form: /^0x4[\w-]{20,60}$/, what: 'what begins with 0x4' },
}

/** Published by the providers for tests: they let everybody pass, or nobody. */
const published = /^(0x0{40}|[123]x0{20,}[\w]{2})$/

export function captcha({ config }: Pick<Surroundings, 'config'>): Finding[] {
  const provider = config.AUTH_SECURITY_CAPTCHA_PROVIDER
  const secret = config.AUTH_SECURITY_CAPTCHA_SECRET ?? ''
  if (!config.AUTH_SECURITY_CAPTCHA_ENABLED || !provider) {
    const isOpen = !config.AUTH_DISABLE_SIGNUP
    return isOpen
      ? [
          warn(
            'Strangers may sign up and there is no captcha: set AUTH_SECURITY_CAPTCHA_ENABLED, or expect bots.',
          ),
        ]
      : []
  }
  if (published.test(secret)) {
    return [
      fail(
        `AUTH_SECURITY_CAPTCHA_SECRET is the one that ${provider} publishes for tests: it checks nothing. Set your own.`,
      ),
    ]
  }
  const { form, what } = forms[provider]
  if (form.test(secret)) return [pass(`The secret of ${provider} has the right form.`)]
  return [
    warn(
      `AUTH_SECURITY_CAPTCHA_SECRET does not look like a secret of ${provider}: that is ${what}.`,
    ),
  ]
}
