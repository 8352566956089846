/** A rejected SAML message or metadata document. The reason is our text and contains nothing of the document. */
export class SamlError extends Error {
  override name = 'SamlError'
}
