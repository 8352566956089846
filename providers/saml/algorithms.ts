/** The algorithms of signatures that are accepted, and why others are not (RFC 9231, XML Signature 1.1 §6). */
import { SamlError } from './values.ts'

const dsig = 'http://www.w3.org/2000/09/xmldsig#'
const dsigMore = 'http://www.w3.org/2001/04/xmldsig-more#'
const dsig2007 = 'http://www.w3.org/2007/05/xmldsig-more#'
const xmlenc = 'http://www.w3.org/2001/04/xmlenc#'
const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#'

export const rsaSha256 = `${dsigMore}rsa-sha256`

/** Node's name of the hash. No HMAC, whose secret would be the public key. */
const signatureHashes: ReadonlyMap<string, string> = new Map([
  [rsaSha256, 'sha256'],
  [`${dsigMore}rsa-sha384`, 'sha384'],
  [`${dsigMore}rsa-sha512`, 'sha512'],
])
const digestHashes: ReadonlyMap<string, string> = new Map([
  [`${xmlenc}sha256`, 'sha256'],
  [`${dsigMore}sha384`, 'sha384'],
  [`${xmlenc}sha512`, 'sha512'],
])

/** Documents with comments are rejected, so that the two are equal. */
const canonicalizations = [exclusive, `${exclusive}WithComments`]
const transforms = [`${dsig}enveloped-signature`, ...canonicalizations]

/** Signatures of this server, as xml-crypto names their parts. */
export const ownSignatures = {
  methods: { signatureAlgorithm: rsaSha256, canonicalizationAlgorithm: exclusive },
  reference: {
    transforms: [`${dsig}enveloped-signature`, exclusive],
    digestAlgorithm: `${xmlenc}sha256`,
  },
}

/** What identity providers can be configured to use. */
const rejected: ReadonlyMap<string, string> = new Map([
  [`${dsig}rsa-sha1`, 'RSA-SHA1'],
  [`${dsig}dsa-sha1`, 'DSA-SHA1'],
  [`${dsig}hmac-sha1`, 'HMAC-SHA1'],
  [`${dsig}sha1`, 'SHA-1'],
  [`${dsigMore}rsa-md5`, 'RSA-MD5'],
  [`${dsig2007}rsa-pss`, 'RSA-PSS'],
  ...[1, 256, 384, 512].map((bits) => [`${dsigMore}ecdsa-sha${bits}`, 'ECDSA'] as const),
  ...[256, 384, 512].map((bits) => [`${dsig2007}sha${bits}-rsa-MGF1`, 'RSA-PSS'] as const),
  ['http://www.w3.org/TR/2001/REC-xml-c14n-20010315', 'inclusive canonicalization'],
  ['http://www.w3.org/TR/2001/REC-xml-c14n-20010315#WithComments', 'inclusive canonicalization'],
  ['http://www.w3.org/2006/12/xml-c14n11', 'inclusive canonicalization'],
])

/** Returns Node's name of the hash of an RSA signature. `name` is that of the field. Throws SamlError. */
export function readSignatureMethod(algorithm: string, name = 'SignatureMethod'): string {
  const hash = signatureHashes.get(algorithm)
  if (hash) return hash
  throw notAllowed(name, algorithm, 'sign with RSA-SHA256')
}

/** Returns Node's name of the hash. Throws SamlError. */
export function readDigestMethod(algorithm: string): string {
  const hash = digestHashes.get(algorithm)
  if (hash) return hash
  throw notAllowed('DigestMethod', algorithm, 'sign with RSA-SHA256 and the digest SHA-256')
}

/** Throws SamlError. */
export function checkCanonicalization(algorithm: string): void {
  if (canonicalizations.includes(algorithm)) return
  throw notAllowed('CanonicalizationMethod', algorithm, 'use exclusive XML canonicalization')
}

/** Throws SamlError unless they are the enveloped signature and exclusive canonicalization. */
export function checkTransforms(algorithms: readonly string[]): void {
  const unknown = algorithms.find((each) => !transforms.includes(each))
  if (unknown === undefined && algorithms[0] === transforms[0] && algorithms.length === 2) return
  throw notAllowed('Transform', unknown ?? '', 'use exclusive XML canonicalization')
}

/** Names nothing of the document but what is known. */
function notAllowed(field: string, algorithm: string, cure: string): SamlError {
  const name = rejected.get(algorithm)
  const what = name ? `its ${field} is not allowed: it is ${name}` : `its ${field} is not allowed`
  return new SamlError(`${what}. Have the identity provider ${cure}`)
}
