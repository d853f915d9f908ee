template <typename Key, typename Value, typename Policy>
class Cache {
public:
    Value *find(const Key &key)
    {
        if (entries_ == nullptr)
            return nullptr;
        return entries_->find(key);
    }

    void clear()
    {
        delete entries_;
        entries_ = nullptr;
    }
};
