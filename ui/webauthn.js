// Passkeys and security keys need a script; everything else on these pages works without one.
const form = document.querySelector('form[data-webauthn]')
if (form && window.PublicKeyCredential?.parseRequestOptionsFromJSON) {
  form.hidden = false
  for (const note of document.querySelectorAll('[data-without-script]')) note.hidden = true
  const button = form.querySelector('button')
  button.type = 'button'
  button.addEventListener('click', async () => {
    const given = form.dataset.options ? JSON.parse(form.dataset.options) : await ask()
    if (!given.options) return form.submit()
    const credential = await respond(given.options).catch(showError)
    if (!credential) return
    form.elements.challenge_id.value = given.challenge_id
    form.elements.credential.value = JSON.stringify(credential.toJSON())
    form.submit()
  })
}
async function ask() {
  const body = new URLSearchParams(new FormData(form))
  const response = await fetch(form.dataset.url, { method: 'POST', body })
  return response.json()
}
function respond(options) {
  const { credentials } = navigator
  return form.dataset.webauthn === 'create'
    ? credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
    : credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) })
}
/** A dialog that the user closed needs no message. */
function showError({ name }) {
  if (name === 'NotAllowedError' || name === 'AbortError') return
  const { failed, keyAddress } = document.querySelector('main').dataset
  const message = document.querySelector('[role=alert]') ?? document.createElement('p')
  message.className = 'bad'
  message.setAttribute('role', 'alert')
  message.textContent = name === 'SecurityError' ? keyAddress : failed
  form.before(message)
}
