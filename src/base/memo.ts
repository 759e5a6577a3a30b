/**
 * A pure function that remembers what it answered: the same key gets the very same answer. With `keep` answers it forgets them
 * all, so that what comes from outside can't make it grow.
 */
export function memoized<Key, Answer>(keep: number, compute: (key: Key) => Answer): (key: Key) => Answer {
  const answers = new Map<Key, Answer>();
  return (key) => {
    const known = answers.get(key);
    if (known !== undefined) return known;
    const answer = compute(key);
    if (answers.size >= keep) answers.clear();
    answers.set(key, answer);
    return answer;
  };
}
