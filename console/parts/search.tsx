import { query, setQuery } from '../core/router.ts'

/** A search field that filters loaded rows while the user types; its text is stored in the URL. */
export function Search({ label, placeholder }: { label: string; placeholder: string }) {
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={placeholder}
      value={searchText()}
      onInput={(event) => setQuery({ q: event.currentTarget.value })}
    />
  )
}

/** Whether one of the texts contains what is searched for, ignoring case. */
export function matchesSearch(texts: readonly string[]): boolean {
  const searched = searchText().trim().toLowerCase()
  return texts.some((text) => text.toLowerCase().includes(searched))
}

const searchText = (): string => query.value.get('q') ?? ''
