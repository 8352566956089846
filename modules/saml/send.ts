/** Sends messages to identity providers through the browser, signed with the current key. */
import type { FastifyInstance } from 'fastify'

import { formFields, type OutgoingMessage, redirectUrl } from '../../providers/saml/bindings.ts'
import type { Endpoint } from '../../providers/saml/idp-metadata.ts'
import { getServiceProvider } from './service-provider.ts'

/** The redirect target: a URL, or a page that posts a form. */
export interface SentMessage {
  url: string
  fields: Record<string, string> | undefined
}

type Message = Omit<OutgoingMessage, 'privateKey'>

export async function sendSamlMessage(
  app: FastifyInstance,
  { binding, url }: Pick<Endpoint, 'binding' | 'url'>,
  message: Message,
): Promise<SentMessage> {
  const { privateKeys } = getServiceProvider(app)
  const outgoing = { ...message, privateKey: privateKeys[0] }
  if (binding === 'HTTP-Redirect') return { url: redirectUrl(url, outgoing), fields: undefined }
  return { url, fields: await formFields(outgoing) }
}

/** The page that posts the request of this RelayState. */
export function postPage(app: FastifyInstance, relayState: string): string {
  return `${getServiceProvider(app).postUrl}?id=${relayState}`
}

/** An NCName, as message ids must be. */
export const messageId = () => `id-${crypto.randomUUID()}`
