/** Providers quote the number and sometimes the text in their errors; neither may reach a log. */
import { SmsError, type SmsProvider } from './provider.ts'

/** The same provider, whose errors hold no phone number and no code of the message they are about. */
export function redacting({ verify, ...provider }: SmsProvider): SmsProvider {
  const redacted: SmsProvider = {
    ...provider,
    send: (message) => withoutDigits([message.phone, message.code], () => provider.send(message)),
  }
  if (verify === undefined) return redacted
  return {
    ...redacted,
    verify: (phone, code) => withoutDigits([phone, code], () => verify(phone, code)),
  }
}

async function withoutDigits<T>(secrets: string[], work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof SmsError)) throw error
    const detail = secrets
      .filter(Boolean)
      .reduce((text, digits) => text.replace(spelled(digits), '[…]'), error.detail)
    throw new SmsError(error.provider, detail, error)
  }
}

/** The digits in a row or grouped by spaces, dots, hyphens and brackets: +1 (555) 010-0000. */
function spelled(digits: string): RegExp {
  return new RegExp([...digits].map(RegExp.escape).join('[\\s().-]{0,3}'), 'g')
}
