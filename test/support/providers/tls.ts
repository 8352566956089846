/** Servers of tests that are reached by https, with a certificate that this process trusts. */
import { createServer as createHttp, type RequestListener } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'

import { certificate } from '../../mail/certificate.ts'

let trusted: { key: string; cert: string } | undefined

/** Created and trusted once. */
function credentials() {
  if (trusted) return trusted
  trusted = certificate({ after: (remove) => process.once('exit', remove) })
  setDefaultCACertificates([...getCACertificates('default'), trusted.cert])
  return trusted
}

export function createServer(listener: RequestListener, { https }: { https: boolean }) {
  return https ? createHttps(credentials(), listener) : createHttp(listener)
}
