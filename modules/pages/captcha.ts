/** The captcha of the forms that lead to endpoints which require one. */
import type { Deps } from '../../plugins/define-plugin.ts'
import { type CaptchaWidget, captchaWidgets } from '../../ui/captcha.ts'

/** The widget that a page shows, and the site key. */
export interface ShownCaptcha extends CaptchaWidget {
  siteKey: string
}

/** Undefined where no captcha is required. */
export function getShownCaptcha({ config }: Deps<'config'>): ShownCaptcha | undefined {
  const {
    AUTH_SECURITY_CAPTCHA_ENABLED: isOn,
    AUTH_SECURITY_CAPTCHA_PROVIDER: provider,
    AUTH_SECURITY_CAPTCHA_SITE_KEY: siteKey,
  } = config
  return isOn && provider && siteKey ? { ...captchaWidgets[provider], siteKey } : undefined
}

/** The field in which the API expects the solved challenge. */
export function captchaToken(deps: Deps<'config'>, fields: Readonly<Record<string, string>>) {
  const token = fields[getShownCaptcha(deps)?.field ?? '']
  return token ? { captcha_token: token } : {}
}
