import { getBody, withQuery } from '../../core/api.ts'
import { formatName } from '../../core/format.ts'
import { useResource } from '../../core/resource.ts'
import { query, setQuery } from '../../core/router.ts'
import { Card } from '../../parts/card.tsx'
import { SelectField } from '../../parts/fields.tsx'
import { Loaded } from '../../parts/states.tsx'
import { Lines } from '../../parts/text.tsx'
import type { ShownMailPreview, TemplateList } from './mail.ts'
import { MailFrame } from './mail-frame.tsx'

/** Previews of each email in each language. */
export function Templates() {
  const of = useResource((signal) => getBody<TemplateList>('/admin/mail/templates', signal), 'all')
  return <Loaded of={of}>{(list) => <Preview {...list} />}</Loaded>
}

function Preview({ kinds, languages, default_language }: TemplateList) {
  const kind = query.value.get('kind') ?? kinds[0] ?? ''
  const locale = query.value.get('locale') ?? default_language
  const path = withQuery('/admin/mail/preview', { kind, locale })
  const of = useResource((signal) => getBody<ShownMailPreview>(path, signal), path)
  return (
    <>
      <div class="columns">
        <SelectField
          name="kind"
          label="Email"
          value={kind}
          options={kinds.map((each) => [each, formatName(each)])}
          onInput={(value) => setQuery({ kind: value })}
        />
        <SelectField
          name="locale"
          label="Language"
          value={locale}
          options={languages.map(({ tag, name }) => [tag, name ? `${name} (${tag})` : tag])}
          onInput={(value) => setQuery({ locale: value })}
        />
      </div>
      <Loaded of={of}>
        {({ subject, html, text }) => (
          <>
            <Card title={subject}>
              <MailFrame html={html} title={`The email “${subject}”`} />
            </Card>
            <Card title="As plain text">
              <Lines label="The email as plain text">{text}</Lines>
            </Card>
          </>
        )}
      </Loaded>
    </>
  )
}
