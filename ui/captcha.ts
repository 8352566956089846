/** The widgets of the captcha providers, for the pages and their content security policy. */

type CaptchaProvider = 'hcaptcha' | 'turnstile'

export interface CaptchaWidget {
  script: string
  className: string
  /** The field that the widget adds to its form. */
  field: string
  /** The origin of its scripts, frames, styles and requests. */
  hosts: string
}

export const captchaWidgets: Record<CaptchaProvider, CaptchaWidget> = {
  hcaptcha: {
    script: 'https://js.hcaptcha.com/1/api.js',
    className: 'h-captcha',
    field: 'h-captcha-response',
    hosts: 'https://hcaptcha.com https://*.hcaptcha.com',
  },
  turnstile: {
    script: 'https://challenges.cloudflare.com/turnstile/v0/api.js',
    className: 'cf-turnstile',
    field: 'cf-turnstile-response',
    hosts: 'https://challenges.cloudflare.com',
  },
}
